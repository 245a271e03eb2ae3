[0m[32mTask[0m [0m[36mtest[0m deno run --allow-run --allow-read tests/in_memory.ts run --allow-read --allow-run --allow-env --allow-write --allow-sys --allow-net tests/run.ts 'tests/faults/archive_kills_test.ts'
[0m[38;5;245mrunning 2 tests from ../../cubby_tests/test_group_67766678fa279150/entry.ts[0m
work of the archive that ends at any change of a file goes on without a loss ... [0m[32mok[0m [0m[38;5;245m(1s)[0m
a service that is killed again and again loses no answered write from its archive ... [0m[32mok[0m [0m[38;5;245m(6s)[0m

[0m[32mok[0m | 2 passed | 0 failed [0m[38;5;245m(7s)[0m


2 passed, 0 failed
