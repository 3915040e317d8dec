package conform_test

import (
	"errors"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
)

// TestJudgeAll: each vector is called once, and each of them held, failed, or is pending.
func TestJudgeAll(t *testing.T) {
	t.Parallel()
	vectors, err := conform.Select("env")
	if err != nil || len(vectors) == 0 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	if none, err := conform.Select("no-such-area"); err != nil || len(none) != 0 {
		t.Errorf("%d vectors of an area that is none, %v", len(none), err)
	}
	called := map[string]bool{}
	whole, err := conform.JudgeAll(vectors, conform.Reference, nil, func(j conform.Judgement) error {
		called[j.ID] = true
		return nil
	})
	if err != nil || len(called) != len(vectors) || whole.Vectors != len(vectors) || whole.Passed+whole.Failed+whole.Pending != whole.Vectors || whole.Failed > 0 {
		t.Errorf("%d called, %+v, %v", len(called), whole, err)
	}
	blind := func(c conform.Case) ([][]aaep.Violation, error) {
		return make([][]aaep.Violation, len(c.Messages)), nil
	}
	if lax, err := conform.JudgeAll(vectors, blind, nil, func(conform.Judgement) error { return nil }); err != nil || lax.Failed == 0 {
		t.Errorf("a judge that finds nothing: %+v, %v", lax, err)
	}
	enough := errors.New("enough")
	if _, err := conform.JudgeAll(vectors, conform.Reference, nil, func(conform.Judgement) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("told %v, want its own error", err)
	}
}
