//! Pools from configuration files: every field, every mistake by its message, and what of a pool is
//! written.

use pool_core::{Backend, Pool, PoolConfig, Poolable, Pooled, Recall, ResetOn, unsync};
use serde::Serialize;

/// Reads a file of TOML.
fn toml(text: &str) -> Result<PoolConfig, toml::de::Error> {
    toml::from_str(text)
}

/// What is wrong with a file of TOML.
fn mistake(text: &str) -> String {
    toml(text).unwrap_err().to_string()
}

/// All that can be said.
const FULL: &str = r#"
    backend = "batched"
    batch_size = 32
    capacity = 1000
    prefill = 100
    grow_by = 256
    max_idle = 800
    reset_on = "acquire"
    recall = "cooperate"
    name = "orders"
"#;

fn full() -> PoolConfig {
    let mut config = PoolConfig::default();
    config.backend = Some(Backend::Batched);
    config.batch_size = Some(32);
    config.capacity = Some(1_000);
    config.prefill = Some(100);
    config.grow_by = Some(256);
    config.max_idle = Some(800);
    config.reset_on = Some(ResetOn::Acquire);
    config.recall = Some(Recall::Cooperate);
    config.name = Some("orders".into());
    config
}

#[test]
fn every_field_is_read_and_applied() {
    assert_eq!(toml(FULL), Ok(full()));
    let pool = Pool::<Noting>::builder().apply(&full()).build().unwrap();
    assert_eq!(
        (pool.backend(), pool.capacity()),
        (Backend::Batched, Some(1_000))
    );
    assert_eq!((pool.idle(), pool.name()), (100, Some("orders")));
    // `max_idle`: what comes back beyond is dropped.
    drop((0..1_000).map(|_| pool.acquire()).collect::<Vec<_>>());
    assert_eq!(pool.idle(), 800);
    // `reset_on`: one that comes back keeps its contents for now.
    let mut object = pool.acquire();
    object.0 = 1;
    drop(object);
    assert!(pool.drain().any(|object| object.0 == 1));
    // `batch_size` and `grow_by` show where they are refused.
    let mut wrong = full();
    wrong.grow_by = Some(0);
    assert!(error(&wrong).starts_with("grow_by 0:"));
    wrong.backend = Some(Backend::Queue);
    assert!(error(&wrong).starts_with("batch size 32 with backend queue"));
}

fn error(config: &PoolConfig) -> String {
    let error = Pool::<u64>::builder().apply(config).build().unwrap_err();
    error.to_string()
}

/// An object that says whether it was reset.
#[derive(Debug, PartialEq)]
struct Noting(u32);

impl Poolable for Noting {
    fn init() -> Self {
        Noting(0)
    }

    fn reset(&mut self) {
        self.0 = 2;
    }
}

#[test]
fn nothing_has_to_be_said() {
    assert_eq!(toml(""), Ok(PoolConfig::default()));
    let pool = Pool::<u64>::builder().apply(&PoolConfig::default());
    let pool = pool.build().unwrap();
    assert_eq!((pool.backend(), pool.capacity()), (Backend::Batched, None));
    assert_eq!((pool.idle(), pool.name()), (0, None));
}

#[test]
fn what_is_left_open_stays_as_it_was() {
    let builder = Pool::<u64>::builder().apply(&full());
    let builder = builder.apply(&PoolConfig::default());
    let before = format!("{:?}", Pool::<u64>::builder().apply(&full()));
    assert_eq!(format!("{builder:?}"), before);

    let mut bound = PoolConfig::default();
    bound.capacity = Some(5_000);
    let pool = builder.apply(&bound).name("other").build().unwrap();
    assert_eq!((pool.capacity(), pool.idle()), (Some(5_000), 100));
    assert_eq!(pool.name(), Some("other"));
}

#[test]
fn a_pool_for_one_thread_takes_what_concerns_it() {
    let mut config = full();
    // One of many threads would refuse a batch size for this backend, and one of 0.
    config.backend = Some(Backend::Mutex);
    config.batch_size = Some(0);
    let pool = unsync::Pool::<u64>::builder().apply(&config).build();
    let pool = pool.unwrap();
    assert_eq!((pool.capacity(), pool.idle()), (Some(1_000), 100));
    assert_eq!(pool.name(), Some("orders"));

    config.prefill = Some(2_000);
    let error = unsync::Pool::<u64>::builder().apply(&config).build();
    assert!(error.unwrap_err().to_string().contains("exceeds capacity"));
}

#[test]
fn names_in_any_case() {
    for backend in Backend::ALL {
        for name in [backend.name().to_owned(), backend.name().to_uppercase()] {
            let config = toml(&format!("backend = {name:?}")).unwrap();
            assert_eq!(config.backend, Some(backend));
        }
    }
    for when in ResetOn::ALL {
        for name in [when.name().to_owned(), when.name().to_uppercase()] {
            let config = toml(&format!("reset_on = {name:?}")).unwrap();
            assert_eq!(config.reset_on, Some(when));
        }
    }
}

#[test]
fn a_mistake_is_told_with_its_field_and_its_remedy() {
    for (file, expected) in [
        (
            "backend = \"stack\"",
            "unknown backend \"stack\": expected one of heap, mutex, queue, batched",
        ),
        (
            "backend = 7",
            "expected one of \"heap\", \"mutex\", \"queue\", \"batched\"",
        ),
        (
            "reset_on = \"drop\"",
            "unknown reset_on \"drop\": expected one of release, acquire",
        ),
        (
            "recall = \"never\"",
            "unknown recall \"never\": expected one of interrupt, cooperate",
        ),
        (
            "capacity = \"many\"",
            "invalid type: string \"many\", expected `capacity` to be a number of objects",
        ),
        (
            "prefill = -1",
            "invalid value: integer `-1`, expected `prefill` to be a number of objects, 0 to ",
        ),
        ("batch_size = 1.5", "expected `batch_size` to be a number"),
        ("grow_by = true", "expected `grow_by` to be a number"),
        ("max_idle = []", "expected `max_idle` to be a number"),
        (
            "capacty = 10",
            "unknown field `capacty`, expected one of `backend`, `batch_size`, `capacity`, \
             `prefill`, `grow_by`, `max_idle`, `max_waiting`, `track_holders`, `reset_on`, \
             `recall`, `name`",
        ),
    ] {
        let told = mistake(file);
        assert!(told.contains(expected), "{file}: {told}");
        // Where in the file that is.
        assert!(told.contains("line 1"), "{file}: {told}");
    }
}

#[test]
fn a_configuration_comes_back_as_it_was_written() {
    for config in [full(), PoolConfig::default()] {
        let written = toml::to_string(&config).unwrap();
        assert_eq!(toml(&written), Ok(config.clone()), "{written}");
        let written = serde_json::to_string(&config).unwrap();
        assert_eq!(
            serde_json::from_str::<PoolConfig>(&written).unwrap(),
            config,
            "{written}"
        );
    }
    let written = toml::to_string(&full()).unwrap();
    assert!(written.contains("backend = \"batched\""), "{written}");
    assert!(written.contains("reset_on = \"acquire\""), "{written}");
}

#[derive(Debug, Default, Serialize, Poolable)]
struct Order {
    id: u64,
    symbol: String,
}

#[test]
fn handles_are_written_as_their_contents() {
    let expected = serde_json::json!({ "id": 7, "symbol": "AMZN" });
    let fill = |order: &mut Order| {
        order.id = 7;
        order.symbol.push_str("AMZN");
    };
    let pool = Pool::<Order>::new();
    let mut order = pool.acquire();
    fill(&mut order);
    assert_eq!(serde_json::to_value(&order).unwrap(), expected);
    let shared = Pooled::into_shared(order);
    assert_eq!(serde_json::to_value(&shared).unwrap(), expected);

    let mut burst = pool.acquire_many(2);
    burst.iter_mut().for_each(|order| fill(order));
    let expected_burst = serde_json::json!([&expected, &expected]);
    assert_eq!(serde_json::to_value(&burst).unwrap(), expected_burst);

    let mut order = unsync::Pool::<Order>::new().acquire();
    fill(&mut order);
    assert_eq!(serde_json::to_value(&order).unwrap(), expected);
}

#[test]
fn stats_are_written_by_name() {
    let pool = Pool::<u64>::builder().prefill(3).build().unwrap();
    let held = pool.acquire();
    let stats = serde_json::to_value(pool.stats()).unwrap();
    assert_eq!(
        (&stats["created"], &stats["in_use"], &stats["idle"]),
        (&3.into(), &1.into(), &2.into())
    );
    drop(held);
}
