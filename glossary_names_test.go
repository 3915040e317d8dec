package earshot_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// TestNamesAreOfTheField: no exported identifier has a word that the project has given up for the field's own (docs/glossary.md).
// Names are compared word by word: "Told" is found in MaxTold, "told" is not in Toldeo.
func TestNamesAreOfTheField(t *testing.T) {
	t.Parallel()
	report(t, retiredNames(t, os.DirFS("."), notYetRenamed))
}

func TestNamesOfTheFieldCheckerBites(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"func TellAll() {}":                        "a.go:3: TellAll has the word tell, expected report or notify",
		"const MaxTold = 1":                        "a.go:3: MaxTold has the word told, expected reported or notified",
		"type Row struct{ Fate string }":           "a.go:3: Row.Fate has the word fate, expected outcome",
		"type Conn interface{ Doorbell() }":        "a.go:3: Conn.Doorbell has the word doorbell, expected wakeup",
		"type row struct{ Fate string }":           "",
		"type Toldeo struct{}":                     "",
		"func tellAll() {}":                        "",
		"type Row struct{}; func (Row) Beat()  {}": "a.go:3: Row.Beat has the word beat, expected heartbeat",
		"type Row struct{}; func (Row) Report(){}": "",
	} {
		wantFinding(t, retiredNames(t, fstest.MapFS{"a.go": {Data: []byte("package a\n\n" + source + "\n")}}, nil), want)
	}
}

// notYetRenamed are folders whose names follow in a change of their own.
var notYetRenamed []string

// retiredWords are the words, and what stands for them.
var retiredWords = map[string]string{
	"told": "reported or notified", "tell": "report or notify", "tells": "reports or notifies", "untold": "unreported",
	"said": "text or reported", "says": "text or comment", "heard": "received", "hear": "receive or listen",
	"over": "done, terminal or ended", "own": "owned, or whose it is", "place": "position or cursor", "places": "positions",
	"keep": "save or retain", "kept": "stored", "take": "claim or accept", "taken": "claimed or accepted", "took": "duration",
	"look": "poll, peek or inspect", "gave": "sent", "given": "supplied",
	"beat": "heartbeat", "patience": "timeout", "fate": "outcome", "lapse": "lease expiry", "lapsed": "lease expired",
	"bell": "wakeup", "bells": "wakeups", "doorbell": "wakeup", "doorbells": "wakeups", "ring": "wakeup or notify", "rung": "woken",
	"mouth": "request", "ear": "subscribe", "face": "discovery", "room": "space, capacity or limit", "errand": "job", "seat": "slot",
	"desk": "inbox", "deed": "effect", "lane": "queue", "tongue": "localizer", "scene": "builder", "tap": "recorder", "tapped": "received",
	"obey": "run", "whose": "owner", "gone": "ended or missing", "anew": "again", "beside": "other", "wish": "preference", "wishes": "preferences",
	"lived": "incarnations", "vouch": "trust", "buried": "dead", "stuck": "blocked", "foreign": "external", "besieged": "tested", "siege": "test",
	"spoken": "announcement", "listed": "page", "wanted": "options", "happened": "on", "realise": "apply", "floor": "layer", "house": "server",
	"settle": "resolve", "settled": "resolved", "held": "claimed, queued or locked", "put": "add or save", "word": "text", "words": "text or phrases",
}

// keptNames are names with such a word that stay, each with its reason.
var keptNames = map[string]string{
	"aaep.BoundaryWord":           "a word of a text; the boundary is AAEP's",
	"aaep/announce.ControlsWords": "words that a person types",
	"aaep/legible.LastWord":       "a word of a text",
	"api.OpPut":                   "put and get are what blob stores call it",
	"api.PutRequest":              "put and get are what blob stores call it",
	"api.OpSettle":                "the operation of the call protocol",
	"api.SettleRequest":           "the operation of the call protocol",
}

func retiredNames(t *testing.T, fsys fs.FS, except []string) []string {
	t.Helper()
	used := map[string]bool{}
	found := eachFile(t, fsys, func(name, text string) []string {
		folder := path.Dir(name)
		within := func(f string) bool { return folder == f || strings.HasPrefix(folder, f+"/") }
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || slices.ContainsFunc(except, within) {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		f := findings{file: name}
		eachExported(file, func(full string, id *ast.Ident) {
			if _, stays := keptNames[folder+"."+full]; stays {
				used[folder+"."+full] = true
				return
			}
			for _, word := range nameWords(id.Name) {
				if instead, retired := retiredWords[word]; retired {
					f.addf(set.Position(id.Pos()).Line, "%s has the word %s, expected %s", full, word, instead)
				}
			}
		})
		return f.found
	})
	if except != nil { // the whole module: an exception that nothing needs is none
		for _, name := range slices.Sorted(maps.Keys(keptNames)) {
			if !used[name] {
				found = append(found, "keptNames: "+name+" is not there; remove it")
			}
		}
	}
	return found
}

// eachExported calls yield with each exported name of a file at package level, and each exported field and method of an exported type.
func eachExported(file *ast.File, yield func(full string, id *ast.Ident)) {
	offer := func(owner string, id *ast.Ident) {
		if id.IsExported() && (owner == "" || ast.IsExported(owner)) {
			yield(strings.TrimPrefix(owner+"."+id.Name, "."), id)
		}
	}
	members := func(owner string, list *ast.FieldList) {
		for _, field := range list.List {
			for _, id := range field.Names {
				offer(owner, id)
			}
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			offer(receiver(d), d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, id := range s.Names {
						offer("", id)
					}
				case *ast.TypeSpec:
					offer("", s.Name)
					switch body := s.Type.(type) {
					case *ast.StructType:
						members(s.Name.Name, body.Fields)
					case *ast.InterfaceType:
						members(s.Name.Name, body.Methods)
					}
				}
			}
		}
	}
}

// receiver is the name of a method's type; "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// nameWords are the words of a name in small letters: MaxTold is max and told, HTTPSeat is httpseat.
func nameWords(name string) []string {
	var words []string
	start, runes := 0, []rune(name)
	for i := 1; i < len(runes); i++ {
		if unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) {
			words = append(words, strings.ToLower(string(runes[start:i])))
			start = i
		}
	}
	return append(words, strings.ToLower(string(runes[start:])))
}
