/** What a dynamic loader, a shell or an interpreter obeys before the command's own code runs. */
const OBEYED = [
	/^LD_/,
	/^DYLD_/,
	/^BASH_FUNC_/,
	/^(GLIBC_TUNABLES|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|RES_OPTIONS|MALLOC_TRACE)$/,
	/^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS4|IFS|PROMPT_COMMAND|ZDOTDIR)$/,
	/^(NODE_OPTIONS|NODE_PATH|PYTHONSTARTUP|PYTHONPATH|PYTHONHOME|PYTHONINSPECT|PYTHONUSERBASE)$/,
	/^(PERL5OPT|PERL5LIB|PERLLIB|PERL5DB|RUBYOPT|RUBYLIB|LUA_INIT.*|PHPRC|PHP_INI_SCAN_DIR)$/,
	/^(JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|CLASSPATH)$/,
];

/** Whether a variable has a power over a command that its own code does not see. */
export function isObeyed(name: string): boolean {
	return OBEYED.some((pattern) => pattern.test(name));
}
