import type { EventSink } from "../event-sink/event-sink.js";
import type { ExecutionSpans } from "./execution-spans.js";

/** Wraps a sink and derives spans from its events. */
export function tracedSink(sink: EventSink, spans: ExecutionSpans | undefined): EventSink {
  if (spans === undefined) return sink;
  const { whenRecorded } = sink;
  return {
    ...(whenRecorded && { whenRecorded: (key: string) => whenRecorded.call(sink, key) }),
    publish: (key, event, fence) => {
      spans.onEvent(key, event);
      return sink.publish(key, event, fence);
    },
  };
}
