//! A binary heap in memory of the caller's: the smallest element first.

/// Moves the last element up to where it belongs.
pub(crate) fn rise<T>(heap: &mut [T], before: impl Fn(&T, &T) -> bool) {
    let mut child = heap.len().saturating_sub(1);
    while child > 0 {
        let parent = (child - 1) / 2;
        if !exchange_if(heap, parent, child, |parent, child| before(child, parent)) {
            return;
        }
        child = parent;
    }
}

/// Moves the first element down to where it belongs.
pub(crate) fn sink<T>(heap: &mut [T], before: impl Fn(&T, &T) -> bool) {
    let mut parent = 0;
    loop {
        let (left, right) = (2 * parent + 1, 2 * parent + 2);
        let child = match (heap.get(left), heap.get(right)) {
            (Some(first), Some(second)) if before(second, first) => right,
            (Some(_), _) => left,
            (None, _) => return,
        };
        if !exchange_if(heap, parent, child, |parent, child| before(child, parent)) {
            return;
        }
        parent = child;
    }
}

/// Exchanges two elements, `low` before `high`, if `wrong` says so of them. Returns whether it did.
pub(crate) fn exchange_if<T>(
    heap: &mut [T],
    low: usize,
    high: usize,
    wrong: impl FnOnce(&T, &T) -> bool,
) -> bool {
    let Some((front, back)) = heap.split_at_mut_checked(high) else {
        return false;
    };
    match (front.get_mut(low), back.first_mut()) {
        (Some(low), Some(high)) if wrong(low, high) => {
            core::mem::swap(low, high);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn elements_come_out_in_order() {
        let mut heap = Vec::new();
        for element in [5, 3, 8, 1, 9, 2, 7, 3] {
            heap.push(element);
            rise(&mut heap, |a, b| a < b);
        }
        let mut sorted = vec![];
        while let Some(last) = heap.pop() {
            match heap.first_mut() {
                Some(first) => sorted.push(core::mem::replace(first, last)),
                None => sorted.push(last),
            }
            sink(&mut heap, |a, b| a < b);
        }
        assert_eq!(sorted, [1, 2, 3, 3, 5, 7, 8, 9]);
    }
}
