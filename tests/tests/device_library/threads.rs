//! Tests of threads, barriers, warps, and the ways in which a thread ends.

use crate::device_library::harness::{Run, lanes, of_one_warp, on_each_device, survives_faults};

#[test]
fn threads_know_their_place() {
    on_each_device(|| {
        let mut run = Run::new();
        let output = run.buffer(&[0_u32; 22 * 3 * 2 * 2 * 24]);
        run.launch("thread_indices", [3, 2, 2], [4, 3, 2]);
        let all = run.read::<u32>(output);
        let mut number = 0;
        for [bz, by, bx] in coordinates([2, 2, 3]) {
            for [tz, ty, tx] in coordinates([2, 3, 4]) {
                let lane = (number % 24) % 32;
                let expected = [
                    tx,
                    ty,
                    tz,
                    bx,
                    by,
                    bz,
                    4,
                    3,
                    2,
                    3,
                    2,
                    2,
                    24,
                    4 * bx + tx,
                    4 * bx + tx,
                    4 * bx + tx,
                    3 * by + ty,
                    4 * bx + tx,
                    2 * bz + tz,
                    lane,
                    32,
                    u32::from(number == 0),
                ];
                assert_eq!(all[22 * number as usize..][..22], expected, "thread {number}");
                number += 1;
            }
        }
    });
}

/// All coordinates below the extents, the last one fastest.
fn coordinates(extents: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [a, b, c] = extents;
    (0..a * b * c).map(move |i| [i / (b * c), i / c % b, i % c])
}

#[test]
fn barriers_of_the_block_count_and_vote() {
    on_each_device(|| {
        for (input, expected) in [
            (vec![1_u32; 64], [64, 1, 1]),
            (vec![0; 64], [0, 0, 0]),
            ((0..64).map(|i| i % 4 * 7).collect(), [48, 0, 1]),
        ] {
            let mut run = Run::new();
            run.buffer(&input);
            let output = run.buffer(&[9_u32; 192]);
            run.launch("thread_barriers", [1, 1, 1], [64, 1, 1]);
            assert!(run.read::<u32>(output).chunks(3).all(|chunk| chunk == expected), "{expected:?}");
        }
    });
}

#[test]
fn shuffles_read_the_lane_that_they_name() {
    on_each_device(|| {
        let input = lanes(|lane| 100 + lane);
        for (lane, results) in of_one_warp::<u32, u32>("warp_shuffles", &input, 8).into_iter().enumerate() {
            let lane = lane as u32;
            let own = 100 + lane;
            let up = if lane >= 1 { own - 1 } else { own };
            let down = if lane % 16 + 2 < 16 { own + 2 } else { own };
            let index = 100 + lane / 8 * 8 + 5;
            let xor = 100 + (lane ^ 4);
            let inside = [u32::from(lane >= 1), u32::from(lane % 16 + 2 < 16), 1, 1];
            assert_eq!(results[..4], [up, down, index, xor], "lane {lane}");
            assert_eq!(results[4..], inside, "lane {lane}");
        }
    });
}

#[test]
fn shuffles_move_values_of_every_size() {
    on_each_device(|| {
        let mut run = Run::new();
        let small = run.buffer(&[0_i8; 32]);
        let float = run.buffer(&[0_f32; 32]);
        let wide = run.buffer(&[0_u64; 32]);
        let double = run.buffer(&[0_f64; 32]);
        run.launch("warp_shuffle_types", [1, 1, 1], [32, 1, 1]);
        let next = |lane: u32| (lane + 1) % 32;
        assert_eq!(run.read::<i8>(small), lanes(|lane| -(next(lane) as i8)));
        assert_eq!(run.read::<f32>(float), lanes(|lane| next(lane) as f32 * 0.5));
        assert_eq!(run.read::<u64>(wide), lanes(|lane| u64::from(next(lane)) << 32 | 7));
        assert_eq!(run.read::<f64>(double), lanes(|lane| f64::from(next(lane)) * 0.25));
    });
}

#[test]
fn votes_and_matches_compare_all_lanes() {
    on_each_device(|| {
        let all_odd = lanes(|lane| 2 * lane + 1);
        assert!(of_one_warp::<u32, u32>("warp_votes", &all_odd, 4).iter().all(|votes| votes == &[1, 1, 1, u32::MAX]));
        let some_odd = lanes(|lane| lane / 8);
        let ballot = 0xff00_ff00;
        assert!(of_one_warp::<u32, u32>("warp_votes", &some_odd, 4).iter().all(|votes| votes == &[0, 1, 0, ballot]));

        let mut run = Run::new();
        run.buffer(&lanes(|lane| (lane % 2) as i32));
        run.buffer(&[0.5_f64; 32]);
        let output = run.buffer(&[0_u32; 128]);
        run.launch("warp_matches", [1, 1, 1], [32, 1, 1]);
        for (lane, matches) in run.read::<u32>(output).chunks(4).enumerate() {
            assert_eq!(matches, [0x5555_5555 << (lane % 2), u32::MAX, 0, u32::MAX], "lane {lane}");
        }
    });
}

#[test]
fn warps_reduce() {
    on_each_device(|| {
        let input = lanes(|lane| (lane as f32 - 10.0) * 0.5);
        let mut run = Run::new();
        run.buffer(&input);
        let sums = run.buffer(&[0_f32; 32]);
        let maximum = run.buffer(&[0_f32; 1]);
        run.launch("warp_reductions", [1, 1, 1], [32, 1, 1]);
        assert_eq!(run.read::<f32>(sums), [88.0; 32]);
        assert_eq!(run.read::<f32>(maximum), [10.5]);

        let reversed = of_one_warp::<u32, u32>("warp_barrier", &lanes(|lane| lane * lane), 1).concat();
        assert_eq!(reversed, lanes(|lane| (31 - lane) * (31 - lane)));

        let mut run = Run::new();
        run.buffer(&(0..128).map(|i| i * i - 500).collect::<Vec<i32>>());
        let sums = run.buffer(&[0_i32; 2]);
        run.launch("warp_unrolled_sum", [2, 1, 1], [64, 1, 1]);
        let sum = |range: std::ops::Range<i32>| range.map(|i| i * i - 500).sum::<i32>();
        assert_eq!(run.read::<i32>(sums), [sum(0..64), sum(64..128)]);
    });
}

#[test]
fn lane_masks_are_of_the_lane() {
    on_each_device(|| {
        let mut run = Run::new();
        let output = run.buffer(&[0_u32; 192]);
        run.launch("warp_masks", [1, 1, 1], [32, 1, 1]);
        for (lane, masks) in run.read::<u32>(output).chunks(6).enumerate() {
            let equal = 1_u32 << lane;
            let less = equal - 1;
            assert_eq!(masks, [equal, less, less | equal, !(less | equal), !less, u32::MAX], "lane {lane}");
        }
    });
}

#[test]
fn threads_end_and_launches_stop() {
    on_each_device(|| {
        let mut run = Run::new();
        let output = run.buffer(&[0_u32; 32]);
        run.launch("special_exit", [1, 1, 1], [32, 1, 1]);
        assert_eq!(run.read::<u32>(output), lanes(|lane| 2 - lane % 2));

        for (victim, stops) in [(4, true), (5, true), (32, false)] {
            if stops && !survives_faults() {
                continue;
            }
            let mut run = Run::new();
            run.buffer(&[0_u32; 32]);
            run.value(victim);
            assert_eq!(run.try_launch("special_trap", [1, 1, 1], [32, 1, 1], 0).is_err(), stops, "{victim}");
        }
    });
}

#[test]
fn clocks_advance() {
    on_each_device(|| {
        let mut run = Run::new();
        let output = run.buffer(&[u64::MAX; 64]);
        run.launch("special_clocks", [1, 1, 1], [32, 1, 1]);
        assert!(run.read::<u64>(output).iter().all(|&passed| passed <= i64::MAX.cast_unsigned()));

        let mut run = Run::new();
        let output = run.buffer(&[u32::MAX; 192]);
        run.launch("special_registers", [1, 1, 1], [32, 1, 1]);
        for numbers in run.read::<u32>(output).chunks(6) {
            let &[_, multiprocessor, multiprocessors, slot, slots, _] = numbers else { unreachable!() };
            assert!(multiprocessor < multiprocessors && slot < slots, "{numbers:?}");
        }
    });
}

#[test]
fn coordinates_and_fences() {
    on_each_device(|| {
        let mut run = Run::new();
        let output = run.buffer(&[0_u32; 48]);
        run.launch("thread_coordinates", [2, 1, 1], [4, 3, 2]);
        for (number, sum) in run.read::<u32>(output).into_iter().enumerate() {
            let (thread, block) = (number as u32 % 24, number as u32 / 24);
            assert_eq!(sum, thread % 4 + thread / 4 % 3 + thread / 12 + block + 24 + 2, "thread {number}");
        }

        let mut run = Run::new();
        let output = run.buffer(&[0_u32; 160]);
        run.launch("thread_fences", [1, 1, 1], [32, 1, 1]);
        assert!(run.read::<u32>(output).chunks(5).all(|numbers| numbers == [1, 2, 3, 4, 5]));
    });
}
