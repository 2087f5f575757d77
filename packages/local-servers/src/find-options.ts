/** Options for finding a program that is slow to download or build. */
export interface FindOptions {
  /** Called before the program is downloaded or built. */
  readonly onBuild?: ((what: string) => void) | undefined;
  /** False: use it only if it exists already. Default true. */
  readonly get?: boolean;
}
