import { POSTGRES_MUTANTS, type PostgresMutant } from "./mutants.js";
import { POSTGRES_SCENARIOS, type PostgresScenario } from "./scenarios.js";
import { TWIN_MUTANTS } from "./twin-mutants.js";
import { TWIN_SCENARIOS } from "./twin-scenarios.js";

export const ALL_POSTGRES_MUTANTS: readonly PostgresMutant[] = [...POSTGRES_MUTANTS, ...TWIN_MUTANTS];

export const ALL_POSTGRES_SCENARIOS: readonly PostgresScenario[] = [...POSTGRES_SCENARIOS, ...TWIN_SCENARIOS];
