-- SPDX-License-Identifier: GPL-2.0-or-later
-- The results database. s80lab writes the rows of a run in one transaction, when the run is complete.
-- Counts cover the measured region. Times are simulated time unless a comment says otherwise.
-- After a change of tables or views, increase user_version here and SCHEMA_VERSION in
-- scripts/s80lab/results/database.py, which refuses every other version.
-- The comment above a table or view begins with a sentence that `s80lab query --tables` prints.
PRAGMA user_version = 9;

-- One row per run, valid or invalid. differences: from the experiment's file, without the seed, for example
-- `mesi · l2.size=2MiB`. boot: the number of the boot (`s80lab run --boots`). design: machine, protocol, changed values, and
-- a hash of all values, for example `s80 · mesi · l2.size=2MiB #1f09c2`.
CREATE TABLE run (
    id           TEXT PRIMARY KEY,
    experiment   TEXT NOT NULL,
    engine       TEXT NOT NULL,     -- qemu, gem5, or replay (of a capture, without a load generator)
    machine      TEXT NOT NULL,
    protocol     TEXT NOT NULL,
    server       TEXT NOT NULL,     -- a file in workloads/servers
    workload     TEXT NOT NULL,
    scale        TEXT NOT NULL,
    seed         INTEGER NOT NULL,
    capture      TEXT,              -- the replayed capture
    form         TEXT CHECK (form IN ('full', 'filtered')),
    clients      INTEGER,
    think_ms     REAL,
    warmup       TEXT NOT NULL CHECK (warmup IN ('steady', 'not steady')),
    status       TEXT NOT NULL CHECK (status IN ('valid', 'invalid')),
    reasons      TEXT NOT NULL,     -- why the run is invalid
    instructions INTEGER NOT NULL,
    simulated_ns  INTEGER NOT NULL,
    mips         REAL NOT NULL,     -- million instructions per second of wall time
    wall_s       REAL NOT NULL,     -- wall time on the host
    folder       TEXT NOT NULL,     -- relative to the database
    created      TEXT NOT NULL,     -- UTC
    image        TEXT NOT NULL DEFAULT '',
    differences  TEXT NOT NULL DEFAULT '',
    boot         INTEGER NOT NULL DEFAULT 1,
    design       TEXT NOT NULL DEFAULT ''
);

-- SHA-256 of the inputs of each run.
CREATE TABLE input   (run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, name TEXT NOT NULL, sha256 TEXT NOT NULL,
                      PRIMARY KEY (run, name));
-- Versions of the programs of each run.
CREATE TABLE version (run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, name TEXT NOT NULL, version TEXT NOT NULL,
                      PRIMARY KEY (run, name));
-- Metrics of each run, in their own units.
CREATE TABLE metric  (run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, name TEXT NOT NULL, unit TEXT NOT NULL,
                      value REAL, PRIMARY KEY (run, name));

-- Every key of the modelled machine of each run, sizes in bytes; and the key `protocol`.
CREATE TABLE design  (run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, key TEXT NOT NULL, value NOT NULL,
                      PRIMARY KEY (run, key));
-- Error of an L1-filtered capture at the L2 size of a replay. See docs/guides/exploration.md; filtered - full: in points,
-- for mpki in percent.
CREATE TABLE filter_error (run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, quantity TEXT NOT NULL,
                      error REAL, PRIMARY KEY (run, quantity));

-- Statistics of the runs: unit and description.
CREATE TABLE statistic (name TEXT PRIMARY KEY, unit TEXT NOT NULL, description TEXT NOT NULL) WITHOUT ROWID;
-- Counts of each run by statistic, summed over the cores. A dimension that the statistic does not have is empty. e_resident
-- is the change over the region.
CREATE TABLE counter (
    run TEXT NOT NULL, statistic TEXT NOT NULL, class TEXT NOT NULL, privilege TEXT NOT NULL, entry TEXT NOT NULL,
    kind TEXT NOT NULL, source TEXT NOT NULL, state TEXT NOT NULL, service TEXT NOT NULL, instruction TEXT NOT NULL,
    "transaction" TEXT NOT NULL, outcome TEXT NOT NULL, slice_length TEXT NOT NULL, resource TEXT NOT NULL,
    recall_cause TEXT NOT NULL, llc_event TEXT NOT NULL, group_event TEXT NOT NULL, value INTEGER NOT NULL,
    PRIMARY KEY (statistic, run, class, privilege, entry, kind, source, state, service, instruction, "transaction", outcome,
                 slice_length, resource, recall_cause, llc_event, group_event)) WITHOUT ROWID;
-- In place of a foreign key, which would look through the whole table.
CREATE TRIGGER counter_of_deleted_run AFTER DELETE ON run BEGIN
    DELETE FROM counter WHERE statistic IN (SELECT name FROM statistic) AND run = OLD.id;
END;
-- For v_cache, which sums over the classes: it reads the counts in the order of its groups, without a sort.
CREATE INDEX counter_of_caches ON counter (run, privilege, kind, statistic, value)
WHERE statistic IN ('accesses', 'l1_misses', 'l2_accesses', 'l2_misses');
-- Counters of each core.
CREATE TABLE core (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, core INTEGER NOT NULL, instructions INTEGER NOT NULL,
    busy_cycles INTEGER NOT NULL, l2_misses INTEGER NOT NULL, fills INTEGER NOT NULL, e_to_m INTEGER NOT NULL,
    e_downgraded INTEGER NOT NULL, e_evicted INTEGER NOT NULL, e_invalidated INTEGER NOT NULL,
    e_resident INTEGER NOT NULL,    -- change over the region
    l2_evictions INTEGER NOT NULL, l2_writebacks INTEGER NOT NULL, l2_invalidations INTEGER NOT NULL,
    interventions INTEGER NOT NULL, PRIMARY KEY (run, core));
-- Transactions by type, with response times in ns.
CREATE TABLE transaction_type (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, type TEXT NOT NULL, count INTEGER NOT NULL,
    started INTEGER NOT NULL, failed INTEGER NOT NULL, substituted INTEGER NOT NULL, bytes_in INTEGER NOT NULL,
    bytes_out INTEGER NOT NULL, mean_ns INTEGER NOT NULL, p50_ns INTEGER NOT NULL, p90_ns INTEGER NOT NULL,
    p95_ns INTEGER NOT NULL, p99_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL, PRIMARY KEY (run, type));
-- Histogram of the response times of each transaction type.
CREATE TABLE latency (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, type TEXT NOT NULL, upper_ns INTEGER NOT NULL,
    count INTEGER NOT NULL, PRIMARY KEY (run, type, upper_ns));
-- Counters of each sampling interval.
CREATE TABLE sampling_interval (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, number INTEGER NOT NULL, phase TEXT NOT NULL,
    end_instructions INTEGER NOT NULL, instructions INTEGER NOT NULL, clock_ns INTEGER NOT NULL,
    misses INTEGER NOT NULL, memory_misses INTEGER NOT NULL, fills INTEGER NOT NULL, fills_e INTEGER NOT NULL,
    e_to_m INTEGER NOT NULL, PRIMARY KEY (run, number));

-- All runs, with what distinguishes them. Every other view consists of these columns and columns of its own.
CREATE VIEW v_run_all AS
SELECT id AS run, experiment, workload, seed, boot, scale, machine, protocol, server, image, engine, capture, form, design,
       differences, status
FROM run;

-- Metrics of each run, in their own units.
CREATE VIEW v_metric_all AS
SELECT r.*, name, unit, value FROM v_run_all r JOIN metric m ON m.run = r.run;

-- L2 misses by what serviced them. share: of the misses of the same run, class, privilege and kind of access.
CREATE VIEW v_miss_source_all AS
SELECT r.*, class, privilege, kind, source, value AS misses,
       1.0 * value / nullif(sum(value) OVER (PARTITION BY r.run, class, privilege, kind), 0) AS share
FROM v_run_all r JOIN counter c ON c.run = r.run AND statistic = 'miss_source';

-- Fills in state E and their fate, by the class that caused the fills. Classes without fills have no row. e_to_m_share:
-- silent E-to-M upgrades per E fill, the paper's definition. stores_found_e: stores that found their block in E, by the
-- class of the store.
CREATE VIEW v_e_state_all AS
SELECT r.*, f.class AS class, f.fills, f.fills_e, 1.0 * f.fills_e / nullif(f.fills, 0) AS e_share,
       e.value AS e_to_m, 1.0 * e.value / nullif(f.fills_e, 0) AS e_to_m_share, x.stores_found_e
FROM v_run_all r
JOIN (SELECT run, class, sum(value) AS fills, sum(value) FILTER (WHERE state = 'E') AS fills_e
      FROM counter WHERE statistic = 'fills' GROUP BY run, class HAVING sum(value) > 0) f ON f.run = r.run
JOIN counter e ON e.statistic = 'e_to_m' AND e.run = r.run AND e.class = f.class
JOIN (SELECT run, class, sum(value) AS stores_found_e FROM counter WHERE statistic = 'stores_found_e' GROUP BY run, class) x
  ON x.run = r.run AND x.class = f.class;

-- User code and each kernel entry cause, by class.
CREATE VIEW v_entry_all AS
SELECT r.*, e.class AS class, e.entry AS entry, e.value AS instructions, u.value AS upgrades, m.misses, m.memory_misses,
       s.stall_cycles, 1000.0 * m.misses / nullif(e.value, 0) AS l2_mpki,
       1.0 * m.memory_misses / nullif(m.misses, 0) AS memory_share
FROM v_run_all r
JOIN counter e ON e.statistic = 'entry_instructions' AND e.run = r.run
JOIN counter u ON u.statistic = 'entry_upgrades' AND u.run = r.run AND u.class = e.class AND u.privilege = ''
              AND u.entry = e.entry
JOIN (SELECT run, class, entry, sum(value) AS misses, sum(value) FILTER (WHERE source = 'memory') AS memory_misses
      FROM counter WHERE statistic = 'entry_miss_source' GROUP BY run, class, privilege, entry) m
  ON m.run = r.run AND m.class = e.class AND m.entry = e.entry
JOIN (SELECT run, class, entry, sum(value) AS stall_cycles FROM counter WHERE statistic = 'entry_stall_cycles'
      GROUP BY run, class, privilege, entry) s
  ON s.run = r.run AND s.class = e.class AND s.entry = e.entry;

-- Accesses and misses of L1 and L2. l2_mpki: L2 misses of the kind of access per 1000 instructions at the same privilege.
CREATE VIEW v_cache_all AS
SELECT r.*, a.privilege, kind, accesses, l1_misses, 1.0 * l1_misses / nullif(accesses, 0) AS l1_miss_rate, l2_accesses,
       l2_misses, 1.0 * l2_misses / nullif(l2_accesses, 0) AS l2_miss_rate,
       1000.0 * l2_misses / nullif(x.instructions, 0) AS l2_mpki
FROM v_run_all r
JOIN (SELECT run, privilege, kind, sum(value) FILTER (WHERE statistic = 'accesses') AS accesses,
             sum(value) FILTER (WHERE statistic = 'l1_misses') AS l1_misses,
             sum(value) FILTER (WHERE statistic = 'l2_accesses') AS l2_accesses,
             sum(value) FILTER (WHERE statistic = 'l2_misses') AS l2_misses
      FROM counter INDEXED BY counter_of_caches
      WHERE statistic IN ('accesses', 'l1_misses', 'l2_accesses', 'l2_misses')
      GROUP BY run, privilege, kind) a ON a.run = r.run
JOIN (SELECT run, privilege, sum(value) AS instructions FROM counter WHERE statistic = 'instructions'
      GROUP BY run, privilege) x ON x.run = r.run AND x.privilege = a.privilege;

-- Bus transactions. *_pki: per 1000 instructions.
CREATE VIEW v_traffic_all AS
SELECT r.*, c.fills, c.writebacks, x.upgrades, c.invalidations, c.interventions,
       1000.0 * c.fills / nullif(t.instructions, 0) AS fills_pki,
       1000.0 * c.writebacks / nullif(t.instructions, 0) AS writebacks_pki,
       1000.0 * x.upgrades / nullif(t.instructions, 0) AS upgrades_pki,
       1000.0 * (c.fills + c.writebacks + x.upgrades) / nullif(t.instructions, 0) AS traffic_pki
FROM v_run_all r
JOIN run t ON t.id = r.run
JOIN (SELECT run, sum(fills) AS fills, sum(l2_writebacks) AS writebacks, sum(l2_invalidations) AS invalidations,
             sum(interventions) AS interventions
      FROM core GROUP BY run) c ON c.run = r.run
JOIN (SELECT run, sum(value) AS upgrades FROM counter WHERE statistic = 'upgrades' GROUP BY run) x ON x.run = r.run;

-- Design and main metrics of each run. Sizes in bytes.
CREATE VIEW v_design_all AS
SELECT r.*, (SELECT value FROM design WHERE run = r.run AND key = 'l2.size') AS l2_size,
       (SELECT value FROM design WHERE run = r.run AND key = 'l2.ways') AS l2_ways,
       (SELECT value FROM design WHERE run = r.run AND key = 'l2.inclusion') AS l2_inclusion,
       (SELECT value FROM design WHERE run = r.run AND key = 'processors.threads_per_core') AS threads_per_core,
       (SELECT value FROM metric WHERE run = r.run AND name = 'l2_mpki.all') AS l2_mpki,
       (SELECT value FROM metric WHERE run = r.run AND name = 'miss_source.all.memory') AS memory_share,
       (SELECT value FROM metric WHERE run = r.run AND name = 'e_share') AS e_share,
       (SELECT value FROM metric WHERE run = r.run AND name = 'e_to_m_share') AS e_to_m_share,
       (SELECT value FROM metric WHERE run = r.run AND name = 'upgrade_pki.made') AS upgrades_pki,
       (SELECT value FROM metric WHERE run = r.run AND name = 'traffic_pki.all') AS traffic_pki,
       (SELECT value FROM metric WHERE run = r.run AND name = 'cpi.all') AS cpi, t.warmup
FROM v_run_all r JOIN run t ON t.id = r.run;

-- Instructions by privilege and instruction class.
CREATE VIEW v_instruction_mix_all AS
SELECT r.*, privilege, instruction, instructions,
       1.0 * instructions / nullif(sum(instructions) OVER (PARTITION BY r.run, privilege), 0) AS share
FROM v_run_all r
JOIN (SELECT run, privilege, instruction, sum(value) AS instructions
      FROM counter WHERE statistic = 'instruction_class' GROUP BY run, privilege, instruction) i ON i.run = r.run;

-- Transactions by type, with response times in ms.
CREATE VIEW v_transactions_all AS
SELECT r.*, type, count, 1.0 * count / nullif(sum(count) OVER (PARTITION BY r.run), 0) AS share,
       started, failed, substituted, bytes_in, bytes_out, count / (simulated_ns / 1e9) AS per_second,
       mean_ns / 1e6 AS mean_ms, p50_ns / 1e6 AS p50_ms, p90_ns / 1e6 AS p90_ms, p95_ns / 1e6 AS p95_ms,
       p99_ns / 1e6 AS p99_ms, max_ns / 1e6 AS max_ms
FROM v_run_all r JOIN run t ON t.id = r.run JOIN transaction_type y ON y.run = r.run;

-- Sampling intervals of warm-up and measured region.
CREATE VIEW v_sampling_intervals_all AS
SELECT r.*, number, phase, end_instructions, instructions, clock_ns, misses,
       1000.0 * misses / nullif(instructions, 0) AS mpki, 1.0 * memory_misses / nullif(misses, 0) AS memory_share, fills,
       1.0 * fills_e / nullif(fills, 0) AS e_share, 1.0 * e_to_m / nullif(fills_e, 0) AS e_to_m_share
FROM v_run_all r JOIN sampling_interval w ON w.run = r.run;

-- The views without `_all` contain valid runs only.

-- Valid runs, with what distinguishes them.
CREATE VIEW v_run AS SELECT * FROM v_run_all WHERE status = 'valid';
-- Metrics of valid runs.
CREATE VIEW v_metric AS SELECT * FROM v_metric_all WHERE status = 'valid';
-- L2 misses of valid runs by what serviced them.
CREATE VIEW v_miss_source AS SELECT * FROM v_miss_source_all WHERE status = 'valid';
-- Fills in state E of valid runs and their fate.
CREATE VIEW v_e_state AS SELECT * FROM v_e_state_all WHERE status = 'valid';
-- User code and kernel entry causes of valid runs.
CREATE VIEW v_entry AS SELECT * FROM v_entry_all WHERE status = 'valid';
-- Accesses and misses of L1 and L2 of valid runs.
CREATE VIEW v_cache AS SELECT * FROM v_cache_all WHERE status = 'valid';
-- Bus transactions of valid runs.
CREATE VIEW v_traffic AS SELECT * FROM v_traffic_all WHERE status = 'valid';
-- Design and main metrics of valid runs.
CREATE VIEW v_design AS SELECT * FROM v_design_all WHERE status = 'valid';
-- Instructions of valid runs by privilege and instruction class.
CREATE VIEW v_instruction_mix AS SELECT * FROM v_instruction_mix_all WHERE status = 'valid';
-- Transactions of valid runs by type.
CREATE VIEW v_transactions AS SELECT * FROM v_transactions_all WHERE status = 'valid';
-- Sampling intervals of valid runs.
CREATE VIEW v_sampling_intervals AS SELECT * FROM v_sampling_intervals_all WHERE status = 'valid';
