/**
 * Collects the messages of one step of a worker and sends them together: the page is drawn once for
 * all of them.
 */
export function createOutbox<Message>(
  send: (messages: readonly Message[], moved: ArrayBuffer[]) => void,
): (message: Message, moved: readonly ArrayBuffer[]) => void {
  let [messages, buffers]: [Message[], ArrayBuffer[]] = [[], []];
  const flush = (): void => {
    const [sent, moved] = [messages, buffers];
    [messages, buffers] = [[], []];
    send(sent, moved);
  };
  return (message, moved) => {
    if (messages.push(message) === 1) queueMicrotask(flush);
    buffers.push(...moved);
  };
}
