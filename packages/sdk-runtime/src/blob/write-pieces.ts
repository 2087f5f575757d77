type Pieces = AsyncIterable<Uint8Array>;

/**
 * Writes pieces. Errors of their source, such as those of a task's code, stay what they are; others
 * are converted by `explained`.
 */
export async function writePieces(pieces: Pieces, write: (pieces: Pieces) => Promise<void>, explained: (cause: unknown) => Error) {
  let broken: { readonly error: unknown } | undefined;
  const watched = async function* () {
    try {
      yield* pieces;
    } catch (error) {
      broken = { error };
      throw error;
    }
  };
  try {
    await write(watched());
  } catch (cause) {
    throw broken === undefined ? explained(cause) : broken.error;
  }
}
