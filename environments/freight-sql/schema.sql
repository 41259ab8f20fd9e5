-- A groupage network of twelve hubs in eight countries. Dates are ISO text, money is euros, weights are kilograms.
CREATE TABLE countries (
  code     TEXT PRIMARY KEY,          -- ISO 3166 alpha-2
  name     TEXT NOT NULL,             -- in its own language
  currency TEXT NOT NULL              -- ISO 4217
);

CREATE TABLE hubs (
  id               INTEGER PRIMARY KEY,
  code             TEXT NOT NULL UNIQUE,
  name             TEXT NOT NULL,
  country          TEXT NOT NULL REFERENCES countries (code),
  capacity_pallets INTEGER NOT NULL,
  opened_on        TEXT               -- NULL while the hub is only planned
);

CREATE TABLE customers (
  id           INTEGER PRIMARY KEY,
  name         TEXT NOT NULL,
  country      TEXT NOT NULL REFERENCES countries (code),
  industry     TEXT NOT NULL,
  payment_days INTEGER                -- NULL: nothing agreed
);

CREATE TABLE contracts (
  id               INTEGER PRIMARY KEY,
  customer_id      INTEGER NOT NULL REFERENCES customers (id),
  valid_from       TEXT NOT NULL,
  valid_to         TEXT,              -- last day, NULL while open-ended
  service          TEXT NOT NULL CHECK (service IN ('standard', 'express', 'temperature')),
  rate_per_kg      REAL NOT NULL,
  discount_percent REAL NOT NULL DEFAULT 0
);

CREATE TABLE drivers (
  id          INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  country     TEXT NOT NULL REFERENCES countries (code),
  hired_on    TEXT NOT NULL,
  home_hub_id INTEGER REFERENCES hubs (id)
);

CREATE TABLE vehicles (
  id              INTEGER PRIMARY KEY,
  plate           TEXT NOT NULL UNIQUE,
  kind            TEXT NOT NULL CHECK (kind IN ('van', 'rigid', 'semitrailer', 'reefer')),
  capacity_tonnes REAL NOT NULL,
  built           INTEGER NOT NULL,   -- year
  hub_id          INTEGER NOT NULL REFERENCES hubs (id),
  fuel            TEXT NOT NULL CHECK (fuel IN ('diesel', 'electric', 'HVO')),
  inspection_due  TEXT NOT NULL
);

CREATE TABLE tours (
  id          INTEGER PRIMARY KEY,
  departs_on  TEXT NOT NULL,
  from_hub_id INTEGER NOT NULL REFERENCES hubs (id),
  to_hub_id   INTEGER NOT NULL REFERENCES hubs (id),
  vehicle_id  INTEGER NOT NULL REFERENCES vehicles (id),
  driver_id   INTEGER NOT NULL REFERENCES drivers (id),
  distance_km INTEGER NOT NULL,
  fuel_litres REAL,
  status      TEXT NOT NULL CHECK (status IN ('planned', 'under way', 'completed', 'cancelled')),
  CHECK (from_hub_id <> to_hub_id)
);

CREATE TABLE shipments (
  id             INTEGER PRIMARY KEY,
  customer_id    INTEGER NOT NULL REFERENCES customers (id),
  tour_id        INTEGER REFERENCES tours (id),
  from_hub_id    INTEGER NOT NULL REFERENCES hubs (id),
  to_hub_id      INTEGER NOT NULL REFERENCES hubs (id),
  booked_on      TEXT NOT NULL,
  promised_on    TEXT NOT NULL,
  delivered_on   TEXT,
  weight_kg      REAL NOT NULL,
  declared_value REAL,                -- NULL: not declared
  service        TEXT NOT NULL CHECK (service IN ('standard', 'express', 'temperature')),
  status         TEXT NOT NULL CHECK (status IN ('booked', 'waiting', 'in transit', 'delivered', 'lost'))
);

CREATE TABLE scans (
  id          INTEGER PRIMARY KEY,
  shipment_id INTEGER NOT NULL REFERENCES shipments (id),
  hub_id      INTEGER NOT NULL REFERENCES hubs (id),
  scanned_at  TEXT NOT NULL,          -- YYYY-MM-DD HH:MM, local time
  event       TEXT NOT NULL CHECK (event IN ('loaded', 'delivered')),
  remark      TEXT
);

CREATE TABLE claims (
  id             INTEGER PRIMARY KEY,
  shipment_id    INTEGER NOT NULL REFERENCES shipments (id),
  filed_on       TEXT NOT NULL,
  kind           TEXT NOT NULL CHECK (kind IN ('damage', 'delay', 'shortage', 'loss')),
  amount         REAL NOT NULL,
  settled_amount REAL,
  status         TEXT NOT NULL CHECK (status IN ('open', 'accepted', 'rejected'))
);

CREATE TABLE invoices (
  id          INTEGER PRIMARY KEY,
  shipment_id INTEGER NOT NULL UNIQUE REFERENCES shipments (id),
  issued_on   TEXT NOT NULL,
  due_on      TEXT NOT NULL,
  amount      REAL NOT NULL,
  paid_on     TEXT
);

CREATE INDEX shipments_by_customer ON shipments (customer_id);
CREATE INDEX shipments_by_tour ON shipments (tour_id);
CREATE INDEX scans_by_shipment ON scans (shipment_id);
