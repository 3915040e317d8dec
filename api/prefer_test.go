package api_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
)

// TestPreferencesAreTheTables: each field of the type has its row in the table, in the same order and under its name in
// JSON; and what is set, left alone and taken back by it is that very field.
func TestPreferencesAreTheTables(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[api.Preferences]()
	i := 0
	for one := range (api.Preferences{}).All() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if one.Name != name {
			t.Fatalf("row %d is %s, and the field %s", i, one.Name, name)
		}
		set := api.Preferences{}.Set(one, 30)
		raw, err := json.Marshal(set)
		if err != nil || string(raw) != `{"`+name+`":30}` {
			t.Errorf("%s is set as %s, %v", name, raw, err)
		}
		if kept := set.With(api.Preferences{}); !reflect.DeepEqual(kept, set) {
			t.Errorf("%s does not stay", name)
		}
		none := api.Preferences{}.Full()
		if back := set.With(none); back != (api.Preferences{}) {
			t.Errorf("%s is not taken back by 0", name)
		}
		i++
	}
	for one := range (api.Preferences{}).Texts() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if one.Name != name {
			t.Fatalf("row %d is %s, and the field %s", i, one.Name, name)
		}
		set := api.Preferences{}.Choose(one, "x")
		raw, err := json.Marshal(set)
		if err != nil || string(raw) != `{"`+name+`":"x"}` {
			t.Errorf("%s is set as %s, %v", name, raw, err)
		}
		if kept := set.With(api.Preferences{}); !reflect.DeepEqual(kept, set) {
			t.Errorf("%s does not stay", name)
		}
		if back := set.With(api.Preferences{}.Change(one, "")); back != (api.Preferences{}) {
			t.Errorf("%s is not taken back by no text", name)
		}
		i++
	}
	if i != of.NumField() {
		t.Errorf("%d rows for %d fields", i, of.NumField())
	}
	raw, err := json.Marshal(api.PreferAnswer{Person: "ann", Preferences: api.Preferences{}.Full()})
	if err != nil || !strings.HasPrefix(string(raw), `{"person":"ann","answer_seconds":0,"undo_seconds":0`) {
		t.Errorf("%s, %v", raw, err)
	}
}

// TestPreferenceBounds: 0 and the bounds are allowed, and what is beyond them is not.
func TestPreferenceBounds(t *testing.T) {
	t.Parallel()
	if api.MaxAnswerSeconds != consent.MaxSeconds {
		t.Errorf("a person can prefer %d s, and a question can stay open for %d s", api.MaxAnswerSeconds, consent.MaxSeconds)
	}
	for _, row := range []struct {
		answer, undo int
		says         string
	}{
		{0, 0, ""},
		{api.MinAnswerSeconds, api.MinUndoSeconds, ""},
		{api.MaxAnswerSeconds, api.MaxUndoSeconds, ""},
		{api.MinAnswerSeconds - 1, 0, "questions can stay open for 30 to 86400 seconds; 0 leaves it to policy and tool"},
		{api.MaxAnswerSeconds + 1, 0, "questions can stay open"},
		{-1, 0, "questions can stay open"},
		{0, api.MinUndoSeconds - 1, "an accept can be taken back for 3 to 120 seconds"},
		{0, api.MaxUndoSeconds + 1, "an accept can be taken back"},
	} {
		err := api.Preferences{AnswerSeconds: &row.answer, UndoSeconds: &row.undo}.Check()
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%d and %d: %v, want %q", row.answer, row.undo, err, row.says)
		}
	}
}

// TestTextPreferences: each preference that is a word can be one of its words, or the name of a time zone, and nothing else.
func TestTextPreferences(t *testing.T) {
	t.Parallel()
	good := map[string]string{"verbosity": "terse", "time_zone": "Europe/Berlin", "questions": "one", "density": "compact"}
	for one := range (api.Preferences{}).Texts() {
		for text, want := range map[string]string{
			"": "", good[one.Name]: "", "Terse": one.Name + " is ", "../etc/localtime": one.Name + " is ", "Local": one.Name + " is ", strings.Repeat("a/", 40): one.Name + " is ",
		} {
			err := api.Preferences{}.Change(one, text).Check()
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s %q: %v", one.Name, text, err)
			}
		}
	}
}
