package storetest

import (
	"errors"
	"strings"
	"sync"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

func toolCases() []exercise {
	return []exercise{
		{"come back and are replaced", toolsComeBack},
		{"are compared and set once they were read", toolsRace},
		{"are listed by their service", toolsOfAService},
		{"one of many who register a new one wins", toolsAppearOnce},
		{"sealed values belong to their call", sealedValues},
	}
}

func counterCases() []exercise {
	return []exercise{
		{"count", countersCount},
		{"give each number once", countersRace},
	}
}

func toolsOfAService(l *ledger) {
	targets := []string{"words", "words_2", "Words", "words", "wordsx", "w.words"}
	all := make([]store.Tool, 0, len(targets))
	for i, target := range targets {
		one := tool(i)
		one.Definition.Target = "cg.v1r4.{project_id}.{channel_id}.cmd.tool." + target + ".call"
		all = append(all, one)
	}
	l.save(store.Batch{Tools: all})
	l.view(func(tx store.Tx) error {
		found, err := tx.Tools(store.ToolFilter{Service: "words"})
		same(l, "the tools of words", found, []store.Tool{all[0], all[3]})
		if err != nil {
			return err
		}
		found, err = tx.Tools(store.ToolFilter{Service: "words_2", Limit: 1})
		same(l, "the tools of words_2", found, []store.Tool{all[1]})
		if err != nil {
			return err
		}
		found, err = tx.Tools(store.ToolFilter{Service: "word"})
		same(l, "the tools of word", len(found), 0)
		return err
	})
}

func toolsComeBack(l *ledger) {
	bare := store.Tool{Definition: utp.Definition{Tool: "bare", Class: utp.Read, Risk: utp.RiskLow, AfterExecution: utp.Suspend}}
	l.save(store.Batch{Tools: []store.Tool{tool(1), tool(2), bare}})
	read := func(name string) (t store.Tool) {
		l.t.Helper()
		l.view(func(tx store.Tx) (err error) {
			t, err = store.OneRow(tx.Tools(store.ToolFilter{Names: []string{name}}))
			return err
		})
		return t
	}
	same(l, "tool", read("files.tool_1"), tool(1))
	same(l, "tool without schema and options", read("bare"), bare)
	changed := tool(3)
	changed.Definition.Tool, changed.Reviewed, changed.Definition.Options = "files.tool_1", false, nil
	l.save(store.Batch{Tools: []store.Tool{changed}})
	same(l, "the changed tool", read("files.tool_1"), changed)
	same(l, "the other tool", read("files.tool_2"), tool(2))
	l.view(func(tx store.Tx) error {
		page, err := tx.Tools(store.ToolFilter{After: "bare", Limit: 1})
		same(l, "a page of tools", page, []store.Tool{changed})
		if err != nil {
			return err
		}
		all, err := tx.Tools(store.ToolFilter{})
		same(l, "all tools", all, []store.Tool{bare, changed, tool(2)})
		return err
	})
	for _, name := range []string{"", "files", "files.tool_9"} {
		l.missing("the tool "+name, func(tx store.Tx) error {
			_, err := store.OneRow(tx.Tools(store.ToolFilter{Names: []string{name}}))
			return err
		})
	}
	if err := l.try(store.Batch{Tools: []store.Tool{{}}}); err == nil {
		l.t.Error("a tool without a name was kept")
	}
}

// toolsRace lets many decide on what a tool was: nobody's decision is written over.
func toolsRace(l *ledger) {
	l.save(store.Batch{Tools: []store.Tool{tool(1)}})
	race(func(i int) {
		for j := range rounds {
			err := l.retry(func(tx store.Tx) error {
				t, err := store.OneRow(tx.Tools(store.ToolFilter{Names: []string{"files.tool_1"}}))
				if err != nil {
					return err
				}
				t.Digest, t.Reviewed = digest("decision", i*rounds+j), !t.Reviewed // none of them the first one's
				t.Definition.Description += "x"
				return tx.Save(store.Batch{Tools: []store.Tool{t}})
			})
			if err != nil {
				l.t.Error(err)
			}
		}
	})
	l.view(func(tx store.Tx) error {
		t, err := store.OneRow(tx.Tools(store.ToolFilter{Names: []string{"files.tool_1"}}))
		same(l, "decisions", strings.Count(t.Definition.Description, "x"), racers*rounds)
		return err
	})
}

// toolsAppearOnce: of many who find that nobody has registered a name, one registers it.
func toolsAppearOnce(l *ledger) {
	for n := range rounds {
		l.oneSucceeds("registering", func(i int) error {
			return l.update(func(tx store.Tx) error {
				if _, err := store.OneRow(tx.Tools(store.ToolFilter{Names: []string{id("files.tool", n)}})); !errors.Is(err, store.ErrNotFound) {
					return errors.Join(store.ErrConflict, err)
				}
				t := tool(n)
				t.Definition.Target = id("target", i)
				return tx.Save(store.Batch{Tools: []store.Tool{t}})
			})
		})
	}
}

func sealedValues(l *ledger) {
	boxes := []store.Sealed{{Call: "tc_1", Ref: "env:A", Box: []byte{1, 0}}, {Call: "tc_1", Ref: "env:B", Box: []byte{2}}}
	l.save(store.Batch{Sealed: boxes})
	l.save(store.Batch{Sealed: []store.Sealed{{Call: "tc_2", Ref: "env:A", Box: []byte{3}}}})
	l.view(func(tx store.Tx) error {
		sealed, err := tx.Sealed("tc_1")
		same(l, "sealed", sealed, boxes)
		none, nerr := tx.Sealed("tc_9")
		same(l, "sealed for nobody", len(none), 0)
		return errors.Join(err, nerr)
	})
	l.refuse("another value under the same reference", store.ErrConflict, store.Batch{Sealed: []store.Sealed{{Call: "tc_1", Ref: "env:A", Box: []byte{9}}}})
}

func countersCount(l *ledger) {
	add := func(name string, n int64) (got int64) {
		l.t.Helper()
		if err := l.update(func(tx store.Tx) (err error) {
			got, err = tx.Count(name, n)
			return err
		}); err != nil {
			l.t.Error(err)
		}
		return got
	}
	same(l, "a new counter", add("a", 0), 0)
	same(l, "after 1", add("a", 1), 1)
	same(l, "after 41 more", add("a", 41), 42)
	same(l, "read in an update", add("a", 0), 42)
	same(l, "downward", add("a", -2), 40)
	same(l, "a large one", add("b", 1<<60), 1<<60)
	same(l, "read in a view", l.count("a"), 40)
	same(l, "another in a view", l.count("none"), 0)
}

func countersRace(l *ledger) {
	var mu sync.Mutex
	seen := map[int64]bool{}
	race(func(int) {
		for range rounds {
			var mine int64
			err := l.retry(func(tx store.Tx) (err error) {
				mine, err = tx.Count("question", 1)
				return err
			})
			mu.Lock()
			if err != nil || seen[mine] {
				l.t.Errorf("number %d, already given: %t, %v", mine, seen[mine], err)
			}
			seen[mine] = true
			mu.Unlock()
		}
	})
	same(l, "the last number", l.count("question"), racers*rounds)
}
