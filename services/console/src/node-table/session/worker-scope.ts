/** Parts of a dedicated worker's scope that a session needs. */
export interface WorkerScope<Received, Sent> {
  onmessage: ((event: { readonly data: Received }) => void) | null;
  postMessage(message: Sent, moved: ArrayBuffer[]): void;
}
