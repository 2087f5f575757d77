import { replicaRounds } from "./replica-rounds.js";
import { startStack } from "./stack-fixture.js";

replicaRounds(startStack);
