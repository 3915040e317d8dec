package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// side is one of several builds that are measured in turns.
type side struct {
	name    string
	server  *server
	browser *browser
	long    string
	seen    map[string][]seen
	tasks   map[string][][]task
}

func (o settings) side(ctx context.Context, dir, program string) (*side, error) {
	dir = filepath.Join(dir, filepath.Base(program))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	s, err := up(dir, program)
	if err != nil {
		return nil, err
	}
	b, err := s.browse(ctx, dir)
	if err != nil {
		s.end()
		return nil, err
	}
	one := &side{name: filepath.Base(program), server: s, browser: b, seen: map[string][]seen{}, tasks: map[string][][]task{}}
	long, err := s.fill(ctx, o)
	if err != nil {
		one.end()
		return nil, err
	}
	one.long = long.ID
	return one, nil
}

func (s *side) end() {
	s.browser.end()
	s.server.end()
}

// turns loads the home page from each of several builds in turns, so that what else the machine does meets them alike.
func turns(ctx context.Context, o settings, dir string) error {
	var sides []*side
	defer func() {
		for _, one := range sides {
			one.end()
		}
	}()
	for program := range strings.SplitSeq(o.program, ",") {
		one, err := o.side(ctx, dir, program)
		if err != nil {
			return err
		}
		sides = append(sides, one)
	}
	devices := []bool{true, false}
	for range o.loads {
		for _, phone := range devices {
			for _, one := range sides {
				for _, path := range []string{"/", "/?session=" + one.long} {
					name := shape(path) + ", " + device(phone)
					if err := one.turn(path, name, phone, o.trace); err != nil {
						return err
					}
				}
			}
		}
	}
	for _, phone := range devices {
		for _, path := range []string{"/", "/?session=ID"} {
			name := path + ", " + device(phone)
			for _, one := range sides {
				fmt.Printf("%s, %s:\n", name, one.name)
				report(one.seen[name])
				if o.trace {
					fmt.Printf("  processor time of the longest task: %s\n", longestOf(one.tasks[name]))
				}
				for _, tasks := range one.tasks[name] {
					for _, task := range tasks {
						fmt.Println("   ", task)
					}
					fmt.Println()
				}
			}
		}
	}
	return nil
}

func (s *side) turn(path, name string, phone, trace bool) error {
	if err := s.browser.become(phone); err != nil {
		return err
	}
	load := func() error {
		one, err := s.browser.once(path)
		s.seen[name] = append(s.seen[name], one)
		return err
	}
	if !trace {
		return load()
	}
	tasks, err := s.browser.tasks(load)
	s.tasks[name] = append(s.tasks[name], tasks[:min(len(tasks), 4)])
	return err
}

// longestOf is the median of the processor time of the longest task of each load: other work on the machine does not add to it.
func longestOf(all [][]task) string {
	var each []seen
	for _, tasks := range all {
		each = append(each, seen{Task: tasks[0].CPU / 1000})
	}
	return middle(each, func(s seen) float64 { return s.Task })
}
