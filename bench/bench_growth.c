/* SPDX-License-Identifier: MIT */
/*
 * How the life of a task grows with what stands beside it: with the tasks that wait, with its
 * payload, and with each scene of bench_growth_scenes.c.  Processor time, in turns with the
 * floor, so that curves can be compared whatever else the machine did.
 */
#include "bench_growth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_sketch.h"

#define ROUNDS 15
#define LIVES 4000u /* of a round */
#define FLOOR_TASKS 8u
#define COPIED_MAX (16u << 20)	  /* bytes of payload in a round, about */
#define SEGMENT_BYTES (5ull << 30) /* at most; the floor has about as much */

void bench_growth_submit(struct growth *g)
{
	bench_must(tq_submit(g->tq, &g->spec, NULL), "submit");
}

void bench_growth_work(struct growth *g)
{
	bench_must(tq_claim(g->worker, 0, &g->claim), "claim");
	bench_must(tq_complete(g->worker, &g->claim, NULL, 0), "complete");
}

static void open_growth(struct growth *g, uint32_t count)
{
	*g = (struct growth){ .tq = bench_open_sized(SEGMENT_BYTES),
			      .claim = { .size = sizeof(g->claim) },
			      .spec = bench_spec(),
			      .count = count };
}

static void close_growth(struct growth *g)
{
	tq_worker_close(g->worker);
	bench_close(g->tq);
}

static uint64_t cpu(void)
{
	return bench_cpu_ns(getpid());
}

/* Processor time of so many lives. */
static uint64_t time_of_scene(const struct growth_scene *scene, struct growth *g, uint32_t lives)
{
	const uint64_t begin = cpu();

	for (uint32_t i = 0; i < lives; i++) {
		if (scene->turn)
			scene->turn(g);
		if (scene->live) {
			scene->live(g);
			continue;
		}
		g->spec.priority = bench_priority();
		bench_growth_submit(g);
		bench_growth_work(g);
	}
	return cpu() - begin;
}

static uint64_t time_of_floor(struct sketch *s, uint32_t lives)
{
	char payload[BENCH_PAYLOAD_BYTES] = { 0 };
	const uint64_t begin = cpu();
	uint32_t task;

	for (uint32_t i = 0; i < lives; i++) {
		sketch_submit(s, bench_priority(), payload);
		if (sketch_claim(s, &task, payload))
			sketch_complete(s, task);
	}
	return cpu() - begin;
}

static struct bench_point point_of(const char *plot, const char *series, double x, const char *what,
				   const char *unit)
{
	return (struct bench_point){
		.plot = plot, .series = series, .x = x, .what = what, .unit = unit
	};
}

/* Samples of so many thousandths. */
static void report(struct bench_point point, uint64_t samples[ROUNDS])
{
	bench_point_of(&point, samples, ROUNDS, 1000);
	bench_report_point(&point);
}

/* In times of the empty floor, which is what makes the scenes comparable, and in ns. */
static void measure_scene(const struct growth_scene *scene, struct growth *g, struct sketch *floor)
{
	const uint32_t tasks = scene->live ? g->count + 1 : 1; /* of a life */
	const uint32_t lives = (bench_scaled(LIVES) + tasks - 1) / tasks;
	uint64_t ns[ROUNDS], ratios[ROUNDS];

	time_of_scene(scene, g, lives);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint64_t of_floor = time_of_floor(floor, bench_scaled(LIVES)) + 1;

		ns[i] = 1000 * time_of_scene(scene, g, lives) / (lives * tasks);
		ratios[i] = ns[i] * bench_scaled(LIVES) / of_floor;
	}
	report(point_of("growth-beside", scene->name, g->count, scene->name, "times"), ratios);
	report(point_of("growth-beside-ns", scene->name, g->count, scene->name, "ns"), ns);
}

static void measure_scenes(const struct growth_scene *scene, struct sketch *floor)
{
	struct growth g;

	for (uint32_t i = 0; i < GROWTH_COUNTS && scene->counts[i]; i++) {
		open_growth(&g, scene->counts[i]);
		scene->open(&g);
		measure_scene(scene, &g, floor);
		if (scene->close)
			scene->close(&g);
		close_growth(&g);
	}
}

static void fill_floor(struct sketch *s, uint32_t count)
{
	char payload[BENCH_PAYLOAD_BYTES] = { 0 };

	for (uint32_t i = 0; i < count; i++)
		sketch_submit(s, bench_priority(), payload);
}

/* Both as deep. */
static void at_depth(uint32_t depth)
{
	static const struct growth_scene plain = { .name = "taskq" };
	struct sketch *floor = sketch_open(depth + FLOOR_TASKS);
	const uint32_t lives = bench_scaled(LIVES);
	uint64_t ours[ROUNDS], floors[ROUNDS], ratios[ROUNDS];
	struct growth g;

	open_growth(&g, depth);
	bench_must(tq_worker_open(g.tq, NULL, &g.worker), "worker");
	bench_fill(g.tq, depth);
	fill_floor(floor, depth);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		floors[i] = 1000 * time_of_floor(floor, lives) / lives;
		ours[i] = 1000 * time_of_scene(&plain, &g, lives) / lives;
		ratios[i] = 1000 * ours[i] / (floors[i] + 1);
	}
	report(point_of("growth-depth", "taskq", depth, "waiting", "ns"), ours);
	report(point_of("growth-depth", "the floor", depth, "waiting", "ns"), floors);
	report(point_of("growth-depth-times", "taskq, times the floor", depth, "waiting", "times"),
	       ratios);
	sketch_close(floor);
	close_growth(&g);
}

/* A life with its payload copied out, as a worker would. */
static uint64_t time_of_copying(struct growth *g, char *copy, uint32_t lives)
{
	const uint64_t begin = cpu();

	for (uint32_t i = 0; i < lives; i++) {
		bench_growth_submit(g);
		bench_must(tq_claim(g->worker, 0, &g->claim), "claim");
		memcpy(copy, g->claim.payload, g->claim.payload_bytes);
		bench_must(tq_complete(g->worker, &g->claim, NULL, 0), "complete");
	}
	return cpu() - begin;
}

static uint64_t time_of_memcpy(char *to, const char *from, uint32_t bytes, uint32_t copies)
{
	const uint64_t begin = cpu();

	for (uint32_t i = 0; i < copies; i++) {
		memcpy(to, from, bytes);
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	return cpu() - begin;
}

static void at_payload(uint32_t bytes)
{
	char *payload = calloc(1, bytes), *copy = calloc(1, bytes);
	const uint32_t most = COPIED_MAX / bytes;
	const uint32_t lives = most < bench_scaled(LIVES) ? most : bench_scaled(LIVES);
	uint64_t ours[ROUNDS], copies[ROUNDS];
	struct growth g;

	bench_must(payload && copy ? 0 : -ENOMEM, "memory");
	open_growth(&g, bytes);
	bench_must(tq_worker_open(g.tq, NULL, &g.worker), "worker");
	g.spec.payload = payload;
	g.spec.payload_bytes = bytes;
	time_of_copying(&g, copy, lives);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		ours[i] = 1000 * time_of_copying(&g, copy, lives) / lives;
		copies[i] = 1000 * time_of_memcpy(copy, payload, bytes, 2 * lives) / lives;
	}
	report(point_of("growth-payload", "taskq", bytes, "bytes", "ns"), ours);
	report(point_of("growth-payload", "limit: memcpy in and out", bytes, "bytes", "ns"),
	       copies);
	close_growth(&g);
	free(payload);
	free(copy);
}

void bench_growth(void)
{
	static const uint32_t depths[] = { 1, 1000, 10000, 100000, 1000000, 10000000 };
	static const uint32_t payloads[] = { 1, 64, 1024, 8192, 65536, 1u << 20, TQ_PAYLOAD_MAX };
	struct sketch *floor = sketch_open(FLOOR_TASKS);

	for (uint32_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++)
		at_payload(payloads[i]);
	for (uint32_t i = 0; i < bench_growth_scene_count; i++)
		measure_scenes(&bench_growth_scenes[i], floor);
	sketch_close(floor);
	for (uint32_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		at_depth(depths[i] > LIVES ? bench_scaled(depths[i]) : depths[i]);
}
