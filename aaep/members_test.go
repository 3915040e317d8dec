package aaep_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// TestMembers: one pass over an object, without the names that are ambiguous.
func TestMembers(t *testing.T) {
	t.Parallel()
	d := aaep.Read([]byte(`{"text":"añ","twice":1,"n":3e2,"yes":true,"inner":{"a":"x","b":null},"twice":2,"none":null}`))
	got := ""
	for m := d.Members(); m.Next(); {
		n, whole := m.Whole()
		got += fmt.Sprintf("%s:%s,%d %t,%t", m.Name(), m.Bytes(), n, whole, m.True())
		for inner := m.Inside(); inner.Next(); {
			got += fmt.Sprintf("(%s:%s)", inner.Name(), inner.Bytes())
		}
		got += " "
	}
	const want = "text:añ,0 false,false n:,300 true,false yes:,0 false,true inner:,0 false,false(a:x)(b:) none:,0 false,false "
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	for _, raw := range []string{``, `[]`, `"x"`, `{`} {
		if m := aaep.Read([]byte(raw)).Members(); m.Next() {
			t.Errorf("%s has the member %s", raw, m.Name())
		}
	}
	if m := (aaep.Document{}).Members(); m.Next() {
		t.Error("nothing has a member")
	}
}

// TestParseTimeEachDay: every day of the calendar is the day that package time says.
func TestParseTimeEachDay(t *testing.T) {
	t.Parallel()
	for day := time.Date(0, time.January, 1, 23, 59, 58, 7e6, time.UTC); day.Year() < 10_000; day = day.AddDate(0, 0, 1) {
		if got, ok := aaep.ParseTime(aaep.FormatTime(day)); !ok || !got.Equal(day) {
			t.Fatalf("%s is read as %s, %t", aaep.FormatTime(day), got, ok)
		}
	}
}
