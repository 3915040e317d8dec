package producer

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep/conform"
	"github.com/earshot-dev/earshot/aaep/conform/report"
	"github.com/earshot-dev/earshot/aaep/transport"
)

// leaveTime is how long the closes at the end may take.
const leaveTime = 2 * time.Second

// Judge dials a producer, listens for the time that is stated, and reports. Everything that it starts has ended when it
// returns. If ctx ends, the report is of what was heard until then. The error is an [*report.Error]: wrong options, a producer
// that cannot be reached, or one that lets nobody in.
func Judge(ctx context.Context, o Options) (report.Report, error) {
	o, u, err := o.checked()
	if err != nil {
		return report.Report{}, err
	}
	rules, err := conform.Catalogue()
	if err != nil {
		return report.Report{}, &report.Error{Message: "the catalogue of rules could not be read", Err: err}
	}
	now := o.Now()
	j := &judge{o: o, url: u, inputs: make(chan arrival), http: &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	var effects []effect
	j.exam, effects = newExam(o, rules, areas[u.Scheme], direct(u), now)
	j.lines = make([]line, len(j.exam.listeners))
	j.run(ctx, effects)
	if j.exam.refused != nil {
		return report.Report{}, j.exam.refused
	}
	return j.exam.report(o.Now()), nil
}

// judge is one run of an exam: the shell around it.
type judge struct {
	o      Options
	url    *url.URL
	http   *http.Client
	exam   *exam
	inputs chan arrival
	lines  []line
	tasks  sync.WaitGroup
}

// arrival is an input from a connection.
type arrival struct {
	input

	turn int // of the line; what comes from an earlier connection is dropped
}

// line is the connection of one listener. It belongs to the goroutine of run.
type line struct {
	turn   int
	end    context.CancelFunc
	conn   transport.Conn
	listen chan struct{} // closed when a connection both ways may go on
	stream string        // address of the stream of server-sent events
}

func (j *judge) run(ctx context.Context, effects []effect) {
	life, cancel := context.WithCancel(ctx)
	defer j.tasks.Wait()
	defer cancel()
	j.do(life, effects)
	told := false
	for now := j.o.Now(); !j.exam.over(now) && ctx.Err() == nil; now = j.o.Now() {
		if j.exam.ready && !told {
			told = true
			j.o.Ready()
		}
		timer := time.NewTimer(j.exam.next().Sub(now))
		select {
		case <-ctx.Done():
		case <-timer.C:
			j.do(life, j.exam.tick(j.o.Now()))
		case in := <-j.inputs:
			if in.kind == inReplied || in.turn == j.lines[in.who].turn {
				j.do(life, j.take(in))
			}
		}
		timer.Stop()
	}
	j.leave(context.WithoutCancel(ctx))
}

// take passes an input on, and keeps what the connection needs of it.
func (j *judge) take(in arrival) []effect {
	return j.exam.step(in.input, j.o.Now())
}

// leave closes the subscriptions that are left.
func (j *judge) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	for _, e := range j.exam.leave() {
		if conn := j.lines[e.who].conn; conn != nil {
			_ = conn.Send(e.raw) // it may be gone
			continue
		}
		_, _ = j.post(ctx, repliesPath, e.raw, j.o.Token) // the producer ends it by itself otherwise
	}
}

// do does what the exam wants.
func (j *judge) do(ctx context.Context, effects []effect) {
	for _, e := range effects {
		l := &j.lines[e.who]
		switch e.kind {
		case doDial:
			j.connect(ctx, l, e, "")
		case doListen:
			j.listen(ctx, l, e)
		case doSend:
			j.send(ctx, l, e)
		case doResume:
			l.drop()
			j.connect(ctx, l, e, e.after)
		case doLeave:
			l.drop()
		}
	}
}

// drop breaks a connection off, without a word.
func (l *line) drop() {
	if l.end != nil {
		l.end()
	}
	l.turn++
}

// begin begins a connection, which ends with the context that is returned.
func (l *line) begin(ctx context.Context) context.Context {
	l.drop()
	ctx, l.end = context.WithCancel(ctx)
	return ctx
}
