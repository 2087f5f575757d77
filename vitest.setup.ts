import { configureGlobal } from "fast-check";

// Properties are tried with the same cases each time, so that what passes here passes everywhere. `npm run nightly` tries others.
configureGlobal({ seed: Number(process.env["PROPERTY_SEED"] ?? 1) });
