import { ApiError } from "./api-error.js";

/** Awaits a call that ends a job; returns false when the job does not exist. @throws ApiError */
export async function ignoreMissing(call: () => Promise<void>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.kind === "missing") return false;
    throw error;
  }
}
