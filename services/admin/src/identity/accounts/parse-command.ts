import { type Role, ROLES, WILDCARD } from "@flyte-ts/auth";

/** The arguments of a command are invalid. The message is one line. */
export class AccountsUsageError extends Error {
  override readonly name = "AccountsUsageError";
}

export interface UserCommand {
  readonly action: "user";
  readonly name: string;
  readonly displayName: string;
  readonly email: string;
  readonly groups: readonly string[];
}

export interface RoleCommand {
  readonly action: "grant" | "revoke";
  readonly kind: "subject" | "group";
  readonly name: string;
  readonly role: Role;
  /** Project and domain of the role; `*`: all. */
  readonly project: string;
  readonly domain: string;
}

export type AccountsCommand =
  | UserCommand
  | RoleCommand
  | { readonly action: "disable" | "service"; readonly name: string }
  | { readonly action: "client"; readonly name: string; readonly redirectUris: readonly string[] }
  | { readonly action: "rotate-key" }
  | { readonly action: "drop-keys"; readonly days: number };

/** Forms of the actions, as the help lists them. */
export const ACTIONS = {
  user: "user NAME [DISPLAY-NAME] [EMAIL] [GROUP,GROUP…]",
  disable: "disable NAME",
  service: "service NAME",
  client: "client NAME REDIRECT-URI…",
  grant: "grant subject|group NAME ROLE [PROJECT [DOMAIN]]",
  revoke: "revoke subject|group NAME ROLE [PROJECT [DOMAIN]]",
  "rotate-key": "rotate-key",
  "drop-keys": "drop-keys DAYS",
} as const;

type Action = keyof typeof ACTIONS;

/** Parses the words of a command. @throws AccountsUsageError naming the wrong or missing word. */
export function parseAccountsCommand([action = "", ...words]: readonly string[]): AccountsCommand {
  if (!Object.hasOwn(ACTIONS, action)) {
    const problem = action === "" ? "the action is missing" : `unknown action ${JSON.stringify(action)}`;
    throw new AccountsUsageError(`${problem}; it must be one of ${Object.keys(ACTIONS).join(", ")}; --help explains them`);
  }
  return parseAction(action as Action, words);
}

function parseAction(action: Action, words: readonly string[]): AccountsCommand {
  switch (action) {
    case "user": {
      const [name, displayName = "", email = "", groups = ""] = between(action, words, { min: 1, max: 4 });
      return { action, name, displayName, email, groups: groups.split(",").filter((group) => group !== "") };
    }
    case "disable":
    case "service":
      return { action, name: between(action, words, { min: 1, max: 1 })[0] };
    case "client": {
      const [name, ...redirectUris] = between(action, words, { min: 2, max: Infinity });
      const wrong = redirectUris.find((uri) => !URL.canParse(uri));
      if (wrong !== undefined) throw wrongWord(action, `REDIRECT-URI ${JSON.stringify(wrong)} is not a URL`);
      return { action, name, redirectUris };
    }
    case "grant":
    case "revoke":
      return parseRole(action, between(action, words, { min: 3, max: 5 }));
    case "rotate-key":
      between(action, words, { min: 0, max: 0 });
      return { action };
    case "drop-keys": {
      const days = Number(between(action, words, { min: 1, max: 1 })[0]);
      if (!(days >= 1)) throw wrongWord(action, "DAYS must be a number of at least 1: tokens of a deleted key become invalid");
      return { action, days };
    }
  }
}

function parseRole(action: "grant" | "revoke", words: readonly string[]): RoleCommand {
  const [kind = "", name = "", role = "", project = WILDCARD, domain = WILDCARD] = words;
  if (kind !== "subject" && kind !== "group") {
    throw wrongWord(action, `${JSON.stringify(kind)} is neither "subject" (a user or client) nor "group"`);
  }
  const known = ROLES.find((each) => each === role);
  if (known === undefined) throw wrongWord(action, `unknown ROLE ${JSON.stringify(role)}; it must be one of ${ROLES.join(", ")}`);
  return { action, kind, name, role: known, project, domain };
}

/**
 * Returns the words of an action: at least `min` of them, none of these empty, and at most `max`.
 */
function between(action: Action, words: readonly string[], { min, max }: { min: number; max: number }): [string, ...string[]] {
  if (words.length < min || words.slice(0, min).includes("")) throw wrongWord(action, "an argument is missing");
  if (words.length > max) throw wrongWord(action, `unexpected argument ${JSON.stringify(words[max])}`);
  const [first = "", ...rest] = words;
  return [first, ...rest];
}

const wrongWord = (action: Action, problem: string): AccountsUsageError =>
  new AccountsUsageError(`${action}: ${problem}; usage: accounts ${ACTIONS[action]}`);
