import { ROLES } from "@flyte-ts/auth";
import { ACTIONS } from "./parse-command.js";

/** Text of `accounts --help`. */
export const ACCOUNTS_HELP = `usage: accounts ACTION [--config FILE] [--SETTING VALUE]

Manages the users, clients and signing keys of admin's built-in issuer (auth.builtIn), and roles,
in admin's database. Admin need not run: the command creates or migrates the tables itself.

  ${ACTIONS.user}
          Creates a user, or replaces password, display name, mail address and groups of one.
          Reads the password, 12 or more characters, from standard input.
  ${ACTIONS.disable}
          Ends the logins and refresh tokens of a user. Issued access tokens stay valid until
          they expire.
  ${ACTIONS.service}
          Creates a client for a program, or gives it a new secret; prints the secret once.
  ${ACTIONS.client}
          Creates a client with which users log in, or replaces its redirect URIs.
  ${ACTIONS.grant}
          Grants a role to a user or client (subject), or to a group; without PROJECT in all
          projects, without DOMAIN in all domains.
          ROLE is ${ROLES.slice(0, -1).join(", ")} or ${ROLES.at(-1)}.
  ${ACTIONS.revoke}
          Revokes a role that was granted with the same arguments.
  ${ACTIONS["rotate-key"]}
          Creates a new signing key. Tokens of earlier keys stay valid.
  ${ACTIONS["drop-keys"]}
          Deletes signing keys older than DAYS, except the newest: their tokens become invalid.

settings:
  --config FILE         a configuration file of admin; may be repeated
  --database.url URL    admin's database; or FLYTE_TS_ADMIN_DATABASE__URL in the environment
  Every other setting of admin is accepted too: docs/reference/configuration/admin.md lists them.

  --help                prints this text

exit status: 0 done, 1 failed (the reason is on standard error), 2 wrong arguments or settings
`;
