/** A user of this machine under whom a provider runs. `uid` undefined: whoever runs the tests. */
export interface User {
	readonly name: string;
	readonly uid: number | undefined;
}

export const isRoot = process.geteuid?.() === 0;

/** Ids of ordinary users that nobody has. */
const NOBODYS = { first: 61_234, second: 61_235 } as const;

export const ordinaryUser: User = { name: "an ordinary user", uid: isRoot ? NOBODYS.first : undefined };
export const rootUser: User = { name: "root", uid: undefined };
/** Another user than the ordinary one; only root can become it. */
export const otherUser: User = { name: "another user", uid: NOBODYS.second };

/** Whom the assertions hold for: both where the tests run as root, else the one who runs them. */
export const USERS: readonly User[] = isRoot ? [rootUser, ordinaryUser] : [ordinaryUser];
