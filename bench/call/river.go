package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// The three jobs of one call, each inserted in the transaction that completes the one before.
// Chain is whose call it is, Began when it was asked for.
type commandArgs struct {
	Chain int       `json:"chain"`
	Began time.Time `json:"began"`
}

type resultArgs commandArgs

type resumeArgs commandArgs

func (commandArgs) Kind() string { return "command" }
func (resultArgs) Kind() string  { return "result" }
func (resumeArgs) Kind() string  { return "resume" }

// chain is River's client with what its jobs need.
type chain struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	meter  *meter
	loop   bool // a call that has ended asks for the next one
}

// handOn completes a job and inserts the next one in one transaction; nil inserts none.
func handOn[T river.JobArgs](ctx context.Context, c *chain, job *river.Job[T], next river.JobArgs) error {
	tx, err := c.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // after a commit there is nothing to roll back
	if next != nil {
		if _, err := c.client.InsertTx(ctx, tx, next, nil); err != nil {
			return err
		}
	}
	if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

type commandWorker struct {
	river.WorkerDefaults[commandArgs]
	*chain
}

func (w *commandWorker) Work(ctx context.Context, job *river.Job[commandArgs]) error {
	return handOn(ctx, w.chain, job, resultArgs(job.Args))
}

type resultWorker struct {
	river.WorkerDefaults[resultArgs]
	*chain
}

func (w *resultWorker) Work(ctx context.Context, job *river.Job[resultArgs]) error {
	return handOn(ctx, w.chain, job, resumeArgs(job.Args))
}

type resumeWorker struct {
	river.WorkerDefaults[resumeArgs]
	*chain
}

func (w *resumeWorker) Work(ctx context.Context, job *river.Job[resumeArgs]) error {
	began := job.Args.Began
	if !w.loop || w.meter.over() {
		err := handOn(ctx, w.chain, job, nil)
		w.meter.add(began)
		return err
	}
	next := commandArgs{Chain: job.Args.Chain, Began: time.Now()}
	err := handOn(ctx, w.chain, job, next)
	w.meter.add(began)
	return err
}

// openRiver makes River's tables in the schema that the DSN names, and its client.
func openRiver(ctx context.Context, dsn string, m *meter, loop bool) (*chain, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	c := &chain{meter: m, loop: loop}
	if c.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	driver := riverpgxv5.New(c.pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return nil, errors.Join(err, c.close(ctx))
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, errors.Join(err, c.close(ctx))
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &commandWorker{chain: c})
	river.AddWorker(workers, &resultWorker{chain: c})
	river.AddWorker(workers, &resumeWorker{chain: c})
	c.client, err = river.NewClient(driver, &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}}, Workers: workers, FetchCooldown: 2 * time.Millisecond,
	})
	if err == nil {
		err = c.client.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.close(ctx))
	}
	return c, nil
}

// ask inserts the first job of a call.
func (c *chain) ask(ctx context.Context, n int, began time.Time) error {
	_, err := c.client.Insert(ctx, commandArgs{Chain: n, Began: began}, nil)
	return err
}

func (c *chain) close(ctx context.Context) error {
	var err error
	if c.client != nil {
		err = c.client.Stop(ctx)
	}
	c.pool.Close()
	return err
}
