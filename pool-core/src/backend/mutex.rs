//! Mutex: a stack under one lock. The simplest backend, and the oracle that the tests hold the
//! others to.

use std::time::Instant;

use crossbeam_utils::CachePadded;

use super::buffers::Buffers;
use super::{Counts, Store, Taken, admit_unless};
use crate::arena::NodePtr;
use crate::config::Config;
use crate::error::AcquireError;
use crate::ledger::Ledger;
use crate::sync::Mutex;
use crate::wait::Waiters;

pub(crate) struct MutexStack {
    stack: CachePadded<Mutex<Stack>>,
    waiters: Waiters,
    buffers: Buffers,
    max_idle: usize,
}

struct Stack {
    idle: Vec<NodePtr>,
    closed: bool,
}

impl MutexStack {
    pub(super) fn new(config: &Config) -> Self {
        let stack = Stack {
            idle: Vec::with_capacity(config.prefill),
            closed: false,
        };
        MutexStack {
            stack: CachePadded::new(Mutex::new(stack)),
            waiters: Waiters::new(),
            buffers: Buffers::new(),
            max_idle: config.max_idle.unwrap_or(usize::MAX),
        }
    }
}

impl Store for MutexStack {
    fn take(&self, ledger: &Ledger, make: bool) -> Taken {
        let mut stack = self.stack.lock();
        if let Some(node) = stack.idle.pop() {
            Taken::Idle(node)
        } else if stack.closed {
            Taken::Closed
        } else if make && ledger.admit() {
            Taken::Admitted
        } else {
            Taken::Exhausted
        }
    }

    fn put(&self, node: NodePtr) -> Result<(), NodePtr> {
        let mut stack = self.stack.lock();
        if stack.closed || stack.idle.len() >= self.max_idle {
            return Err(node);
        }
        stack.idle.push(node);
        self.waiters.notify_one();
        Ok(())
    }

    fn take_many(
        &self,
        ledger: &Ledger,
        n: usize,
        _surplus: &mut Vec<NodePtr>,
    ) -> Result<Vec<NodePtr>, AcquireError> {
        let mut nodes = self.buffers.take(n);
        let mut stack = self.stack.lock();
        let idle = n.min(stack.idle.len());
        if stack.closed {
            return Err(AcquireError::Closed);
        }
        if !ledger.admit_all(n - idle) {
            self.buffers.give(nodes);
            return Err(AcquireError::Exhausted);
        }
        let rest = stack.idle.len() - idle;
        nodes.extend(stack.idle.drain(rest..));
        Ok(nodes)
    }

    fn put_many(&self, mut nodes: Vec<NodePtr>) -> Vec<NodePtr> {
        let mut stack = self.stack.lock();
        if stack.closed {
            return nodes;
        }
        let room = self.max_idle.saturating_sub(stack.idle.len());
        let refused = nodes.split_off(nodes.len().min(room));
        stack.idle.append(&mut nodes);
        self.waiters.notify_all();
        self.buffers.give(nodes);
        refused
    }

    fn wait(&self, ledger: &Ledger, n: usize, deadline: Option<Instant>) -> bool {
        let mut stack = self.stack.lock();
        let waiting = self.waiters.arrive(n);
        loop {
            let ready =
                |stack: &Stack| stack.closed || stack.idle.len().saturating_add(ledger.room()) >= n;
            if ready(&stack) {
                return true;
            }
            if waiting.sleep(&mut stack, deadline) {
                return ready(&stack);
            }
        }
    }

    fn gather(&self, keep: usize) -> Vec<NodePtr> {
        let mut stack = self.stack.lock();
        let surplus = stack.idle.len().saturating_sub(keep);
        let oldest = stack.idle.drain(..surplus).collect();
        if surplus > 0 {
            stack.idle.shrink_to_fit();
        }
        oldest
    }

    fn close(&self, _ledger: &Ledger) -> Vec<NodePtr> {
        let mut stack = self.stack.lock();
        stack.closed = true;
        self.waiters.notify_all();
        std::mem::take(&mut stack.idle)
    }

    fn counts(&self) -> Counts {
        let stack = self.stack.lock();
        Counts {
            idle: stack.idle.len(),
            waits: self.waiters.total(),
            ..Counts::default()
        }
    }

    fn admit(&self, ledger: &Ledger) -> Result<(), AcquireError> {
        admit_unless(self.stack.lock().closed, ledger)
    }

    fn dismiss(&self, ledger: &Ledger) -> bool {
        ledger.leave_room();
        if ledger.is_bounded() {
            let _stack = self.stack.lock();
            self.waiters.notify_one();
        }
        ledger.release_ref()
    }
}
