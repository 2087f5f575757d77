/** Options for finding a program that is slow to download or build. */
export interface InstallOptions {
  /** Called before the program is downloaded or built. */
  readonly onProgress?: ((what: string) => void) | undefined;
  /** False: use it only if it exists already. Default true. */
  readonly install?: boolean;
}
