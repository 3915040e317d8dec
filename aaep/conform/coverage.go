package conform

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
)

// Coverage is what stands behind one rule.
type Coverage struct {
	Rule    Rule     `json:"rule"`
	Passing int      `json:"passing"`         // vectors that keep it
	Failing int      `json:"failing"`         // vectors that break it
	Pending int      `json:"pending"`         // vectors that the reference judge does not meet yet
	Tests   []string `json:"tests,omitempty"` // tests of this module that prove it by other means
	Covered bool     `json:"covered"`
	Reason  string   `json:"reason,omitempty"` // why it is not covered
}

//go:embed elsewhere.json
var elsewhereFile []byte

// Elsewhere returns tests of this module, as package and name, that prove a rule by
// other means than a vector.
func Elsewhere() (map[string][]string, error) {
	var tests map[string][]string
	if err := json.Unmarshal(elsewhereFile, &tests); err != nil {
		return nil, fmt.Errorf("conform: the table of other tests: %w", err)
	}
	return tests, nil
}

// Measure says of every rule of the catalogue what covers it. A rule that vectors
// should cover ([Rule.Due]) needs one that keeps it and one that breaks it, a MAY one
// of what it permits; a test elsewhere does as well. Of the other rules one vector or
// one test is enough. Pending vectors count for nothing.
func Measure() ([]Coverage, error) {
	rules, err := Catalogue()
	if err != nil {
		return nil, err
	}
	tests, err := Elsewhere()
	if err != nil {
		return nil, err
	}
	all := make([]Coverage, len(rules))
	index := make(map[string]int, len(rules))
	for i, r := range rules {
		all[i] = Coverage{Rule: r, Tests: tests[r.ID]}
		index[r.ID] = i
	}
	if err := count(all, index); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Covered = all[i].met() || restated(all, index, i, nil)
	}
	for i := range all {
		if !all[i].Covered {
			all[i].Reason = all[i].why()
		}
	}
	return all, nil
}

// count adds the vectors to the rules that they are about.
func count(all []Coverage, index map[string]int) error {
	vectors, err := Vectors()
	if err != nil {
		return err
	}
	pending, err := Pending()
	if err != nil {
		return err
	}
	for _, v := range vectors {
		_, waits := pending[v.ID]
		for _, id := range v.Rules() {
			i, ok := index[id]
			switch {
			case !ok:
				return fmt.Errorf("conform: the vector %s names the rule %s, which the catalogue does not have", v.ID, id)
			case waits:
				all[i].Pending++
			case v.Verdict == VerdictValid:
				all[i].Passing++
			default:
				all[i].Failing++
			}
		}
	}
	return nil
}

// met reports whether the rule's own vectors and tests are enough.
func (c Coverage) met() bool {
	switch {
	case len(c.Tests) > 0:
		return true
	case !c.Rule.Due():
		return c.Passing+c.Failing > 0
	case c.Rule.Level == LevelMay:
		return c.Passing > 0
	default:
		return c.Passing > 0 && c.Failing > 0
	}
}

// restated reports whether all the rules that together say the same are covered.
func restated(all []Coverage, index map[string]int, i int, above []int) bool {
	others := all[i].Rule.Restates
	return len(others) > 0 && !slices.Contains(above, i) && !slices.ContainsFunc(others, func(id string) bool {
		j, ok := index[id]
		return !ok || !all[j].met() && !restated(all, index, j, append(above, i))
	})
}

func (c Coverage) why() string {
	switch {
	case c.Rule.Uncovered != "":
		return c.Rule.Uncovered
	case !c.Rule.Due():
		return c.Rule.beyond()
	case c.Pending > 0:
		return "its vectors are pending"
	case len(c.Rule.Restates) > 0:
		return "what it restates is not covered"
	default:
		return ""
	}
}

// Summary is the coverage of the rules of one level.
type Summary struct {
	Level               Level
	Due, DueCovered     int // rules that vectors should cover
	Other, OtherCovered int
}

// Summarise counts by level, the most binding first; levels without rules are left out.
func Summarise(all []Coverage) []Summary {
	var sums []Summary
	for _, level := range []Level{LevelMust, LevelShould, LevelMay, LevelSchema, LevelInfer, LevelApp, LevelGuide, LevelSuite, LevelNone} {
		s := Summary{Level: level}
		for _, c := range all {
			if c.Rule.Level == level {
				s.add(c)
			}
		}
		if s.Due+s.Other > 0 {
			sums = append(sums, s)
		}
	}
	return sums
}

func (s *Summary) add(c Coverage) {
	all, covered := &s.Other, &s.OtherCovered
	if c.Rule.Due() {
		all, covered = &s.Due, &s.DueCovered
	}
	*all++
	if c.Covered {
		*covered++
	}
}
