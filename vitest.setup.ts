import { configureGlobal } from "fast-check";

// Properties are tried with the same cases each time, so that what passes here passes everywhere. `npm run nightly` tries others.
configureGlobal({ seed: Number(process.env["PROPERTY_SEED"] ?? 1) });

// flytectl keeps tokens in a keyring: where there is no session bus it would start one, which nobody ends.
process.env["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/dev/null";
