import { readFile } from "node:fs/promises";
import { z } from "zod";

/** Source of a secret: a file that holds nothing else, or an environment variable. */
export const secretSourceSchema = z
  .strictObject({
    /** File that holds only the secret; it is read for every use. */
    file: z.string().min(1).optional(),
    /** Environment variable with the secret. */
    env: z.string().min(1).optional(),
  })
  .refine(({ file, env }) => (file === undefined) !== (env === undefined), { message: "give either file or env" });

export type SecretSource = z.infer<typeof secretSourceSchema>;

/**
 * Reads a secret, each time anew, so that it can be rotated. @throws Error that names the file or
 * the variable.
 */
export async function readSecret({ file, env }: SecretSource, environment: Readonly<Record<string, string | undefined>>): Promise<string> {
  const text = file !== undefined ? await readFile(file, "utf8") : (environment[env ?? ""] ?? "");
  const secret = text.trim();
  if (secret === "") throw new Error(file === undefined ? `the environment variable ${env} is not set` : `the file ${file} is empty`);
  return secret;
}
