/** The project cannot be bundled or registered as it is; the message says what to change. */
export class ProjectError extends Error {
  override readonly name = "ProjectError";
}
