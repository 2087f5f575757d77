import { replicaRounds } from "./replica-rounds.js";
import { startStack } from "../stack/stack-fixture.js";

replicaRounds(startStack);
