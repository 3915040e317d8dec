package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json"
)

// traced is one event of Chromium's trace: what a thread did, from when and for how long in microseconds, of which it had the processor CPU.
type traced struct {
	Name  string  `json:"name"`
	Phase string  `json:"ph"`
	PID   int     `json:"pid"`
	TID   int     `json:"tid"`
	At    float64 `json:"ts"`
	Took  float64 `json:"dur"`
	CPU   float64 `json:"tdur"`
	Args  struct {
		Name string `json:"name"`
		Data struct {
			URL      string `json:"url"`
			Function string `json:"functionName"`
			Line     int    `json:"lineNumber"`
			Type     string `json:"type"`
		} `json:"data"`
		Begin struct {
			Start int `json:"startLine"`
			Dirty int `json:"dirtyObjects"`
			Total int `json:"totalObjects"`
		} `json:"beginData"`
		End struct {
			Line int `json:"endLine"`
		} `json:"endData"`
		Elements int `json:"elementCount"`
	} `json:"args"`
}

// task is a task of the main thread, with what it was made of: each part without the parts inside it.
type task struct {
	traced
	parts map[string]float64
}

// tasks records what the main thread does during steps, the task first that took most of the processor.
func (b *browser) tasks(during func() error) ([]task, error) {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	var all []traced
	done := make(chan struct{})
	err := chromedp.ListenBrowser(ctx, func(event any) {
		switch e := event.(type) {
		case *tracing.EventDataCollected:
			for _, one := range e.Value {
				var t traced
				if json.Unmarshal(one, &t) == nil { // others have other arguments, and are not looked at
					all = append(all, t)
				}
			}
		case *tracing.EventTracingComplete:
			close(done)
		}
	})
	if err != nil {
		return nil, err
	}
	err = b.do(call(func(ctx context.Context) error {
		_, err := chromedp.CallBrowser(ctx, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{IncludedCategories: []string{
			"__metadata", "toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "v8",
		}}})
		return err
	}))
	if err == nil {
		err = during()
	}
	if err != nil {
		return nil, err
	}
	err = b.do(call(func(ctx context.Context) error {
		_, err := chromedp.CallBrowser(ctx, tracing.End, struct{}{})
		return err
	}))
	if err != nil {
		return nil, err
	}
	select {
	case <-done:
	case <-b.ctx.Done():
		err = b.ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return longest(all)
}

// longest are the tasks of the thread that has parsed the most lines: the main thread of the page.
func longest(all []traced) ([]task, error) {
	type thread struct{ pid, tid int }
	parsed := map[thread]int{} // lines
	var main thread
	for _, one := range all {
		if one.Name != "ParseHTML" {
			continue
		}
		t := thread{one.PID, one.TID}
		if parsed[t] += one.Args.End.Line - one.Args.Begin.Start; parsed[t] > parsed[main] {
			main = t
		}
	}
	var own []traced
	for _, one := range all {
		if one.Phase == "X" && one.PID == main.pid && one.TID == main.tid {
			own = append(own, one)
		}
	}
	slices.SortStableFunc(own, func(a, b traced) int {
		if a.At != b.At {
			return int(a.At - b.At)
		}
		return int(b.Took - a.Took)
	})
	var tasks []task
	var inside []traced // from the outermost on
	for _, one := range own {
		for len(inside) > 0 && inside[len(inside)-1].At+inside[len(inside)-1].Took <= one.At {
			inside = inside[:len(inside)-1]
		}
		if len(inside) == 0 {
			tasks = append(tasks, task{traced: one, parts: map[string]float64{}})
		}
		parts := tasks[len(tasks)-1].parts
		parts[part(one)] += one.Took
		if len(inside) > 0 {
			parts[part(inside[len(inside)-1])] -= one.Took
		}
		inside = append(inside, one)
	}
	if len(tasks) == 0 {
		return nil, errors.New("found no task of a page in the trace")
	}
	slices.SortStableFunc(tasks, func(a, b task) int { return int(b.CPU - a.CPU) })
	return tasks, nil
}

// part names what an event is about.
func part(one traced) string {
	name := one.Name
	d := one.Args.Data
	switch {
	case d.Function != "" || d.URL != "" && name != "ParseHTML":
		name += fmt.Sprintf(" %s:%s", path.Base(d.URL), d.Function)
	case d.Type != "":
		name += " " + d.Type
	case name == "Layout":
		name += fmt.Sprintf(" of %d/%d", one.Args.Begin.Dirty, one.Args.Begin.Total)
	case name == "UpdateLayoutTree":
		name += fmt.Sprintf(" of %d", one.Args.Elements)
	case name == "ParseHTML":
		name += fmt.Sprintf(" %d-%d", one.Args.Begin.Start, one.Args.End.Line)
	}
	return name
}

// String tells what a task was made of, the longest parts first. Parts of less than half a millisecond are left out.
func (t task) String() string {
	names := make([]string, 0, len(t.parts))
	for name := range t.parts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return int(t.parts[b] - t.parts[a]) })
	var text strings.Builder
	fmt.Fprintf(&text, "%.0f ms (%.0f of the processor):", t.Took/1000, t.CPU/1000)
	for _, name := range names[:min(len(names), 10)] {
		if t.parts[name] >= 500 {
			fmt.Fprintf(&text, " %s %.1f;", name, t.parts[name]/1000)
		}
	}
	return text.String()
}
