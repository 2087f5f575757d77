/** Vitest reporter that prints unhandled errors after the failed tests. */
export default class TellUnhandled {
  onTestRunEnd(_modules, errors) {
    for (const { message, stack, VITEST_TEST_PATH: file = "" } of errors) {
      console.log(
        `UNHANDLED ${file}\n    ${String(stack ?? message)
          .slice(0, 2000)
          .replaceAll("\n", "\n    ")}`,
      );
    }
  }
}
