/** Begins every value that must not turn up where it does not belong. */
export const CANARY = "canary-";

/** What users have in the environment of the process that calls. */
export const QUIET_ENVIRONMENT: Readonly<Record<string, string>> = {
	LANG: "de_DE.UTF-8",
	TERM: "xterm-canary-term",
	AWS_SECRET_ACCESS_KEY: "canary-aws",
	E2B_API_KEY: "canary-e2b",
	PULUMI_CONFIG_PASSPHRASE: "canary-pulumi",
	PULUMI_CONFIG: '{"secret":"canary-config"}',
	GITHUB_TOKEN: "canary-gh",
	SSH_AUTH_SOCK: "/run/canary-agent.sock",
	DOCKER_HOST: "unix:///run/canary-docker.sock",
	KUBECONFIG: "/home/canary-dev/.kube/config",
	DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/canary-bus",
	PYTHONPATH: "/opt/canary-evil",
	GIT_SSH_COMMAND: "touch canary-git",
	GIT_CONFIG_COUNT: "1",
	PERL5OPT: "-Mcanary",
	HTTPS_PROXY: "http://user:canary-proxy@192.0.2.1:3128",
	// Values of credentials, by the references that routes name.
	SANDBOXER_SECRET_DB: "canary-db",
	SANDBOXER_SECRET_TOKEN: "canary-token 'two words' \"quoted\" $HOME ü🙂",
	SANDBOXER_SECRET_KEY: "-----BEGIN KEY-----\ncanary-key\n-----END KEY-----\n",
	SANDBOXER_SECRET_DECLARED: "canary-declared",
	SANDBOXER_SECRET_LONG: `canary-long ${"x".repeat(60_000)}`,
	SANDBOXER_SECRET_UNROUTED: "canary-unrouted",
};

/** What the calling process itself would obey, or every program it starts: set once it runs. */
export const DANGEROUS_ENVIRONMENT: Readonly<Record<string, string>> = {
	LD_PRELOAD: "/opt/canary-evil/x.so",
	NODE_OPTIONS: "--require /opt/canary-evil/x.js",
	BASH_ENV: "/opt/canary-evil/x.sh",
	ENV: "/opt/canary-evil/x.sh",
	IFS: "x",
	"BASH_FUNC_ls%%": "() { echo canary-function; }",
};

/** The setting `sandboxer:credentials` of every calling process. VALUELESS has a route and no value. */
export const CREDENTIAL_SETTING = [
	{ ref: "DB", env: "DATABASE_URL" },
	"TOKEN",
	{ ref: "KEY", file: "deploy_key" },
	{ ref: "LONG", file: "long.pem" },
	"VALUELESS",
];
