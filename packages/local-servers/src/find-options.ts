/** How a program that is slow to get is looked for. */
export interface FindOptions {
  /** Told when it has to be got first. */
  readonly onBuild?: ((what: string) => void) | undefined;
  /** False: it is used only where it is there already. Default true. */
  readonly get?: boolean;
}
