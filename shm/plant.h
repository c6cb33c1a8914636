/* SPDX-License-Identifier: MIT */
/*
 * Planted faults, to prove that the crash tests can fail: tests/crash/plants.sh
 * builds the core once with each, -DTQI_PLANT_NAME=1, and wants a named test red.
 * None is in any build of ours: all are 0 here, and the compiler drops them.
 */
#ifndef TQI_SHM_PLANT_H
#define TQI_SHM_PLANT_H

#define TQI_PLANTED(name) (TQI_PLANT_##name)

#ifndef TQI_PLANT_no_entry /* a store without its journal entry */
#define TQI_PLANT_no_entry 0
#endif
#ifndef TQI_PLANT_late_entry /* the entry after the store */
#define TQI_PLANT_late_entry 0
#endif
#ifndef TQI_PLANT_early_count /* an entry counts before it is complete */
#define TQI_PLANT_early_count 0
#endif
#ifndef TQI_PLANT_short_batch /* the last entry of a batch does not count */
#define TQI_PLANT_short_batch 0
#endif
#ifndef TQI_PLANT_late_batch /* a batch counts after its stores */
#define TQI_PLANT_late_batch 0
#endif
#ifndef TQI_PLANT_early_commit /* the journal is emptied before the last stores */
#define TQI_PLANT_early_commit 0
#endif
#ifndef TQI_PLANT_early_forget /* the journal is emptied, and the lock said to be in order, before the rollback */
#define TQI_PLANT_early_forget 0
#endif
#ifndef TQI_PLANT_any_journal /* a journal is undone whatever it says */
#define TQI_PLANT_any_journal 0
#endif
#ifndef TQI_PLANT_plain_submit /* stores without their entries where nothing rare is asked for */
#define TQI_PLANT_plain_submit 0
#endif
#ifndef TQI_PLANT_plain_claim
#define TQI_PLANT_plain_claim 0
#endif
#ifndef TQI_PLANT_plain_end
#define TQI_PLANT_plain_end 0
#endif
#ifndef TQI_PLANT_plain_lock /* pthread_mutex_lock */
#define TQI_PLANT_plain_lock 0
#endif
#ifndef TQI_PLANT_late_wake /* wakes after the commit */
#define TQI_PLANT_late_wake 0
#endif
#ifndef TQI_PLANT_stale_holder /* a lock is stolen although the record names another holder */
#define TQI_PLANT_stale_holder 0
#endif
#ifndef TQI_PLANT_no_epoch /* a verdict of an earlier attempt counts */
#define TQI_PLANT_no_epoch 0
#endif
#ifndef TQI_PLANT_early_give /* what a transaction frees can be used again within it */
#define TQI_PLANT_early_give 0
#endif
#ifndef TQI_PLANT_no_pins /* a record is freed under those who wait for it */
#define TQI_PLANT_no_pins 0
#endif
#ifndef TQI_PLANT_early_release /* a wait slot's mutex is released before the commit that frees the slot */
#define TQI_PLANT_early_release 0
#endif
#ifndef TQI_PLANT_no_note /* keepers are not told that they must look earlier */
#define TQI_PLANT_no_note 0
#endif
#ifndef TQI_PLANT_raw_block /* observers copy a block as it is, inside a transaction */
#define TQI_PLANT_raw_block 0
#endif
#ifndef TQI_PLANT_plain_wall /* an appointment is counted, and no journal says that it was not */
#define TQI_PLANT_plain_wall 0
#endif
#ifndef TQI_PLANT_plain_token /* likewise a limit without its token */
#define TQI_PLANT_plain_token 0
#endif
#ifndef TQI_PLANT_plain_history /* likewise a task without its first history */
#define TQI_PLANT_plain_history 0
#endif
#ifndef TQI_PLANT_blind_check /* check does not see that a repair was begun */
#define TQI_PLANT_blind_check 0
#endif
#ifndef TQI_PLANT_unmarked_repair /* a repair does not say that it was begun */
#define TQI_PLANT_unmarked_repair 0
#endif
#ifndef TQI_PLANT_unmarked_journal /* nor that it is to come, before it forgets the journal */
#define TQI_PLANT_unmarked_journal 0
#endif
#ifndef TQI_PLANT_early_end /* it says that it has ended before its wakes are committed */
#define TQI_PLANT_early_end 0
#endif
#ifndef TQI_PLANT_no_depths /* a repair does not count the queues' tasks anew */
#define TQI_PLANT_no_depths 0
#endif
#ifndef TQI_PLANT_loose_run /* a task leaves a run, and no journal says what it was behind */
#define TQI_PLANT_loose_run 0
#endif
#ifndef TQI_PLANT_no_place /* a rollback does not restore the places of heap entries */
#define TQI_PLANT_no_place 0
#endif

#endif
