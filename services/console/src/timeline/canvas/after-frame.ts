/**
 * Runs a function when the frame that is being drawn is on its way to the screen: a canvas without
 * a graphics processor draws after the calls to it have returned.
 */
export function afterFrame(run: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    run();
  };
  port2.postMessage(undefined);
}
