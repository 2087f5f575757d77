import { httpPolicySettings } from "@flyte-ts/config";
import { z } from "zod";

const settings = z.strictObject({
  /** Web console below `/console`. */
  console: z
    .strictObject({
      /**
       * Folder with the files of the console, which admin serves at `/console`. Admin lists it
       * once, when it starts. Empty: no console.
       */
      folder: z.string().default(""),
      /**
       * Origins of blob stores that the console may reach by signed URLs, such as
       * `https://my-bucket.s3.amazonaws.com`.
       */
      blobOrigins: httpPolicySettings.allowedOrigins,
      /**
       * Origins from which decks may load scripts, styles, images and fonts, such as
       * `https://cdn.plot.ly`. Empty: a deck contains all that it shows.
       */
      deckOrigins: httpPolicySettings.allowedOrigins,
    })
    .prefault({}),
});

export const consoleSettings = settings.shape;
export type ConsoleConfig = z.infer<typeof settings>["console"];
