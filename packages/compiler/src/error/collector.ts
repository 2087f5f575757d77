import { compareText } from "@flyte-ts/domain/type";
import { type CompileError, type CompileErrors, errorLine } from "./compile-error.js";

/**
 * Collects errors, so that a user sees all of them at once. A rule that is checked twice reports
 * once.
 */
export class ErrorCollector {
  private readonly byLine = new Map<string, CompileError>();
  private reports = 0;

  add(error: CompileError): void {
    this.reports++;
    this.byLine.set(errorLine(error), error);
  }

  /** Number of reported errors: compare it before and after a check to know whether it passed. */
  get count(): number {
    return this.reports;
  }

  /** True when a check reports nothing. */
  addsNoErrors(check: () => void): boolean {
    const before = this.reports;
    check();
    return this.reports === before;
  }

  list(): CompileErrors {
    return [...this.byLine].sort(([a, x], [b, y]) => compareText(x.code, y.code) || compareText(a, b)).map(([, error]) => error);
  }
}
