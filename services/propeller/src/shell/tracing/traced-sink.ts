import type { EventSink } from "../event-sink/event-sink.js";
import type { ExecutionSpans } from "./execution-spans.js";

/** A sink whose events also make spans. */
export function tracedSink(sink: EventSink, spans: ExecutionSpans | undefined): EventSink {
  if (spans === undefined) return sink;
  const { recorded } = sink;
  return {
    ...(recorded && { recorded: (key: string) => recorded.call(sink, key) }),
    publish: (key, event, asLongAs) => {
      spans.told(key, event);
      return sink.publish(key, event, asLongAs);
    },
  };
}
