-- SPDX-License-Identifier: GPL-2.0-or-later
-- The results database. s80lab writes the rows of a run in one transaction, when the run is complete.
-- Counts cover the measured region. Times are simulated time unless a comment says otherwise.
-- After a change of tables or views, increase user_version here and SCHEMA_VERSION in
-- scripts/s80lab/results/database.py, which refuses every other version.
PRAGMA user_version = 5;

CREATE TABLE run (
    id           TEXT PRIMARY KEY,
    experiment   TEXT NOT NULL,
    mix          TEXT NOT NULL,
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
    warm         TEXT NOT NULL CHECK (warm IN ('warm', 'not warm')),
    status       TEXT NOT NULL CHECK (status IN ('result', 'not a result')),
    reasons      TEXT NOT NULL,     -- why the run is invalid
    instructions INTEGER NOT NULL,
    modelled_ns  INTEGER NOT NULL,
    mips         REAL NOT NULL,     -- million instructions per second of wall time
    wall_s       REAL NOT NULL,     -- wall time on the host
    folder       TEXT NOT NULL,     -- relative to the database
    created      TEXT NOT NULL,     -- UTC
    image        TEXT NOT NULL DEFAULT '',
    differences  TEXT NOT NULL DEFAULT ''   -- from the experiment's file, for example `mesi · l2.size=2MiB`; no seed
);

CREATE TABLE input   (run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, name TEXT NOT NULL, sha256 TEXT NOT NULL,
                      PRIMARY KEY (run, name));
CREATE TABLE version (run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, name TEXT NOT NULL, version TEXT NOT NULL,
                      PRIMARY KEY (run, name));
CREATE TABLE metric  (run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, name TEXT NOT NULL, unit TEXT NOT NULL,
                      value REAL, PRIMARY KEY (run, name));

-- Every key of the modelled machine, sizes in bytes; and the key `protocol`.
CREATE TABLE design  (run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, key TEXT NOT NULL, value NOT NULL,
                      PRIMARY KEY (run, key));
-- Error of a filtered capture at the design's L2 (docs/guides/exploration.md), filtered - full: in points, for mpki in percent.
CREATE TABLE filter_error (run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, quantity TEXT NOT NULL,
                      error REAL, PRIMARY KEY (run, quantity));

CREATE TABLE line_access (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, privilege TEXT NOT NULL, class TEXT NOT NULL,
    kind TEXT NOT NULL, accesses INTEGER NOT NULL, l1_misses INTEGER NOT NULL, l2_accesses INTEGER NOT NULL,
    l2_misses INTEGER NOT NULL, PRIMARY KEY (run, privilege, class, kind));
CREATE TABLE miss_source (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, privilege TEXT NOT NULL, class TEXT NOT NULL,
    kind TEXT NOT NULL, source TEXT NOT NULL, misses INTEGER NOT NULL,
    PRIMARY KEY (run, privilege, class, kind, source));
CREATE TABLE stall (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, privilege TEXT NOT NULL, class TEXT NOT NULL,
    kind TEXT NOT NULL, service TEXT NOT NULL, cycles INTEGER NOT NULL,
    PRIMARY KEY (run, privilege, class, kind, service));
CREATE TABLE fill (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, class TEXT NOT NULL, kind TEXT NOT NULL,
    state TEXT NOT NULL, blocks INTEGER NOT NULL, PRIMARY KEY (run, class, kind, state));
-- Fate of the blocks that were filled in E, by the class that caused the fill.
CREATE TABLE e_block (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, class TEXT NOT NULL, e_to_m INTEGER NOT NULL,
    e_downgraded INTEGER NOT NULL, e_evicted INTEGER NOT NULL, e_invalidated INTEGER NOT NULL,
    e_resident INTEGER NOT NULL,    -- change over the region
    PRIMARY KEY (run, class));
-- By kernel entry cause. Runs of gem5 have no rows.
CREATE TABLE entry (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, class TEXT NOT NULL, entry TEXT NOT NULL,
    instructions INTEGER NOT NULL, upgrades INTEGER NOT NULL, PRIMARY KEY (run, class, entry));
CREATE TABLE entry_miss_source (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, class TEXT NOT NULL, entry TEXT NOT NULL,
    source TEXT NOT NULL, misses INTEGER NOT NULL, PRIMARY KEY (run, class, entry, source));
CREATE TABLE entry_stall (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, class TEXT NOT NULL, entry TEXT NOT NULL,
    service TEXT NOT NULL, cycles INTEGER NOT NULL, PRIMARY KEY (run, class, entry, service));
CREATE TABLE execution (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, privilege TEXT NOT NULL, class TEXT NOT NULL,
    instructions INTEGER NOT NULL, upgrades INTEGER NOT NULL, stores_found_e INTEGER NOT NULL,
    PRIMARY KEY (run, privilege, class));
CREATE TABLE instruction (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, privilege TEXT NOT NULL, class TEXT NOT NULL,
    instruction TEXT NOT NULL, instructions INTEGER NOT NULL, PRIMARY KEY (run, privilege, class, instruction));
CREATE TABLE core (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, core INTEGER NOT NULL, instructions INTEGER NOT NULL,
    busy_cycles INTEGER NOT NULL, l2_misses INTEGER NOT NULL, fills INTEGER NOT NULL, e_to_m INTEGER NOT NULL,
    e_downgraded INTEGER NOT NULL, e_evicted INTEGER NOT NULL, e_invalidated INTEGER NOT NULL,
    e_resident INTEGER NOT NULL,    -- change over the region
    l2_evictions INTEGER NOT NULL, l2_writebacks INTEGER NOT NULL, l2_invalidations INTEGER NOT NULL,
    interventions INTEGER NOT NULL, PRIMARY KEY (run, core));
CREATE TABLE transaction_type (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, type TEXT NOT NULL, count INTEGER NOT NULL,
    started INTEGER NOT NULL, failed INTEGER NOT NULL, substituted INTEGER NOT NULL, bytes_in INTEGER NOT NULL,
    bytes_out INTEGER NOT NULL, mean_ns INTEGER NOT NULL, p50_ns INTEGER NOT NULL, p90_ns INTEGER NOT NULL,
    p95_ns INTEGER NOT NULL, p99_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL, PRIMARY KEY (run, type));
CREATE TABLE latency (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, type TEXT NOT NULL, upper_ns INTEGER NOT NULL,
    count INTEGER NOT NULL, PRIMARY KEY (run, type, upper_ns));
CREATE TABLE stats_window (
    run TEXT NOT NULL REFERENCES run ON DELETE CASCADE, number INTEGER NOT NULL, phase TEXT NOT NULL,
    end_instructions INTEGER NOT NULL, instructions INTEGER NOT NULL, clock_ns INTEGER NOT NULL,
    misses INTEGER NOT NULL, memory_misses INTEGER NOT NULL, fills INTEGER NOT NULL, fills_e INTEGER NOT NULL,
    e_to_m INTEGER NOT NULL, PRIMARY KEY (run, number));

-- share: of the misses of the same run, class, privilege and kind of access.
CREATE VIEW v_miss_source AS
SELECT run, experiment, mix, seed, class, privilege, kind, source, misses,
       1.0 * misses / nullif(sum(misses) OVER (PARTITION BY run, class, privilege, kind), 0) AS share
FROM (SELECT run.id AS run, experiment, mix, seed, class, privilege, kind, source, sum(misses) AS misses
      FROM miss_source JOIN run ON run.id = miss_source.run
      GROUP BY run.id, class, privilege, kind, source);

-- By the class that caused the fills; classes without fills have no row. e_to_m_share: silent E-to-M upgrades per E fill,
-- the paper's definition. stores_found_e: stores that found their block in E, by the class of the store.
CREATE VIEW v_e_state AS
SELECT run.id AS run, experiment, mix, seed, f.class AS class, f.fills, f.fills_e,
       1.0 * f.fills_e / nullif(f.fills, 0) AS e_share,
       e.e_to_m, 1.0 * e.e_to_m / nullif(f.fills_e, 0) AS e_to_m_share, x.stores_found_e
FROM run
JOIN (SELECT run, class, sum(blocks) AS fills, sum(blocks) FILTER (WHERE state = 'E') AS fills_e
      FROM fill GROUP BY run, class HAVING sum(blocks) > 0) f ON f.run = run.id
JOIN e_block e ON e.run = run.id AND e.class = f.class
JOIN (SELECT run, class, sum(stores_found_e) AS stores_found_e FROM execution GROUP BY run, class) x
  ON x.run = run.id AND x.class = f.class;

-- User code and each kernel entry cause, by class.
CREATE VIEW v_entry AS
SELECT run.id AS run, experiment, mix, seed, e.class AS class, e.entry AS entry, e.instructions, e.upgrades,
       m.misses, m.memory_misses, s.stall_cycles,
       1000.0 * m.misses / nullif(e.instructions, 0) AS l2_mpki,
       1.0 * m.memory_misses / nullif(m.misses, 0) AS memory_share
FROM run
JOIN entry e ON e.run = run.id
JOIN (SELECT run, class, entry, sum(misses) AS misses, sum(misses) FILTER (WHERE source = 'memory') AS memory_misses
      FROM entry_miss_source GROUP BY run, class, entry) m ON m.run = run.id AND m.class = e.class AND m.entry = e.entry
JOIN (SELECT run, class, entry, sum(cycles) AS stall_cycles FROM entry_stall GROUP BY run, class, entry) s
  ON s.run = run.id AND s.class = e.class AND s.entry = e.entry;

-- l2_mpki: L2 misses of the kind of access per 1000 instructions at the same privilege.
CREATE VIEW v_cache AS
SELECT run.id AS run, experiment, mix, seed, a.privilege, kind, sum(accesses) AS accesses,
       sum(l1_misses) AS l1_misses, 1.0 * sum(l1_misses) / nullif(sum(accesses), 0) AS l1_miss_rate,
       sum(l2_accesses) AS l2_accesses, sum(l2_misses) AS l2_misses,
       1.0 * sum(l2_misses) / nullif(sum(l2_accesses), 0) AS l2_miss_rate,
       1000.0 * sum(l2_misses) / nullif(x.instructions, 0) AS l2_mpki
FROM line_access a
JOIN run ON run.id = a.run
JOIN (SELECT run, privilege, sum(instructions) AS instructions FROM execution GROUP BY run, privilege) x
  ON x.run = a.run AND x.privilege = a.privilege
GROUP BY run.id, a.privilege, kind;

-- Bus transactions. *_pki: per 1000 instructions.
CREATE VIEW v_traffic AS
SELECT run, experiment, mix, seed, fills, writebacks, upgrades, invalidations, interventions,
       1000.0 * fills / nullif(instructions, 0) AS fills_pki,
       1000.0 * writebacks / nullif(instructions, 0) AS writebacks_pki,
       1000.0 * upgrades / nullif(instructions, 0) AS upgrades_pki,
       1000.0 * (fills + writebacks + upgrades) / nullif(instructions, 0) AS traffic_pki
FROM (SELECT run.id AS run, experiment, mix, seed, run.instructions AS instructions, sum(fills) AS fills,
             sum(l2_writebacks) AS writebacks, x.upgrades AS upgrades, sum(l2_invalidations) AS invalidations,
             sum(interventions) AS interventions
      FROM core
      JOIN run ON run.id = core.run
      JOIN (SELECT run, sum(upgrades) AS upgrades FROM execution GROUP BY run) x ON x.run = core.run
      GROUP BY run.id);

-- One row per run: its design and its main metrics. Sizes in bytes.
CREATE VIEW v_design AS
SELECT run.id AS run, experiment, mix, seed, engine, capture, form, machine, protocol, server, differences,
       (SELECT value FROM design WHERE run = run.id AND key = 'l2.size') AS l2_size,
       (SELECT value FROM design WHERE run = run.id AND key = 'l2.ways') AS l2_ways,
       (SELECT value FROM design WHERE run = run.id AND key = 'l2.inclusion') AS l2_inclusion,
       (SELECT value FROM design WHERE run = run.id AND key = 'processors.threads_per_core') AS threads_per_core,
       (SELECT value FROM metric WHERE run = run.id AND name = 'l2_mpki.all') AS l2_mpki,
       (SELECT value FROM metric WHERE run = run.id AND name = 'miss_source.all.memory') AS memory_share,
       (SELECT value FROM metric WHERE run = run.id AND name = 'e_share') AS e_share,
       (SELECT value FROM metric WHERE run = run.id AND name = 'e_to_m_share') AS e_to_m_share,
       (SELECT value FROM metric WHERE run = run.id AND name = 'upgrade_pki.made') AS upgrades_pki,
       (SELECT value FROM metric WHERE run = run.id AND name = 'traffic_pki.all') AS traffic_pki,
       (SELECT value FROM metric WHERE run = run.id AND name = 'cpi.all') AS cpi, warm, status
FROM run;

CREATE VIEW v_instruction_mix AS
SELECT run, experiment, mix, seed, privilege, instruction, instructions,
       1.0 * instructions / nullif(sum(instructions) OVER (PARTITION BY run, privilege), 0) AS share
FROM (SELECT run.id AS run, experiment, mix, seed, privilege, instruction, sum(i.instructions) AS instructions
      FROM instruction i JOIN run ON run.id = i.run
      GROUP BY run.id, privilege, instruction);

CREATE VIEW v_transactions AS
SELECT run.id AS run, experiment, mix, seed, type, count,
       1.0 * count / nullif(sum(count) OVER (PARTITION BY run.id), 0) AS share,
       started, failed, substituted, bytes_in, bytes_out, count / (modelled_ns / 1e9) AS per_second,
       mean_ns / 1e6 AS mean_ms, p50_ns / 1e6 AS p50_ms, p90_ns / 1e6 AS p90_ms, p95_ns / 1e6 AS p95_ms,
       p99_ns / 1e6 AS p99_ms, max_ns / 1e6 AS max_ms
FROM transaction_type JOIN run ON run.id = transaction_type.run;

CREATE VIEW v_windows AS
SELECT run.id AS run, experiment, mix, seed, number, phase, end_instructions, w.instructions, clock_ns,
       misses, 1000.0 * misses / nullif(w.instructions, 0) AS mpki,
       1.0 * memory_misses / nullif(misses, 0) AS memory_share, fills,
       1.0 * fills_e / nullif(fills, 0) AS e_share, 1.0 * e_to_m / nullif(fills_e, 0) AS e_to_m_share
FROM stats_window w JOIN run ON run.id = w.run;
