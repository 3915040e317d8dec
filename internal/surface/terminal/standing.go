package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/utp"
)

// Standing is a standing permission in the words of a person, at a command line or typed here. Its zero value has the
// defaults of [api.Standing].
type Standing struct {
	// Uses is how many calls it allows, Life for how long, in whole seconds.
	Uses int
	Life time.Duration
	// Agent makes it one for any session of the agent, not only for the session that asks.
	Agent bool
	// Where are bounds, such as path=/home/ann/*, count<=20 or note=*.
	Where []string
	// Agreed means that the person has already agreed to what it means.
	Agreed bool
}

// ParseStanding reads the words after "accept standing": times 20, for 2h, where path=/home/ann/*, agent, session, yes. As
// flags they are the same: --times 20. It returns an error for the person.
func ParseStanding(words []string) (Standing, error) {
	var s Standing

	for i := 0; i < len(words); i++ {
		word, value, joined := strings.Cut(strings.TrimPrefix(words[i], "--"), "=")

		takes := word == "times" || word == "for" || word == "where"
		if takes && !joined && i+1 < len(words) {
			i++
			value = words[i]
		}

		if err := s.word(word, value); err != nil || joined && !takes {
			return s, cause.Misuse(fmt.Sprintf("%.64q does not belong to a standing permission", words[i]),
				"the words are times 20, for 2h, where 'path=/home/ann/*', agent, session and yes")
		}
	}

	return s, nil
}

// word sets what one word says.
func (s *Standing) word(word, value string) (err error) {
	switch strings.ToLower(word) {
	case "times":
		s.Uses, err = strconv.Atoi(value)
		if s.Uses == 0 {
			err = standing.ErrUses
		}
	case "for":
		s.Life, err = time.ParseDuration(value)
		if s.Life <= 0 || s.Life%time.Second != 0 {
			err = standing.ErrTime
		}
	case "where":
		s.Where = append(s.Where, value)
	case "agent", "session":
		s.Agent = word == "agent"
	case "yes":
		s.Agreed = true
	default:
		err = standing.ErrScope
	}

	return err
}

// For returns the request for the permission, to be sent with the accept of a question about these arguments, and what it
// means, in one sentence. The error is for the person. What the server does not allow, it refuses itself.
func (s Standing) For(q api.OpenQuestion, raw jsontext.Value, now time.Time) (api.Standing, string, error) {
	asked := api.Standing{Uses: s.Uses, Seconds: int(s.Life / time.Second), Scope: api.ScopeSession}
	if s.Agent {
		asked.Scope = api.ScopeAgent
	}

	args, err := utp.Canonical(raw)
	if err != nil {
		return asked, "", cause.Fail(err, fmt.Sprintf("the arguments of question %d cannot be read", q.Number), "accept it without a standing permission")
	}

	for _, text := range s.Where {
		b, err := parseBound(text, args)
		if err != nil {
			return asked, "", err
		}

		asked.Bounds = append(asked.Bounds, b)
	}

	// The class is the server's to judge; here it is only about the words.
	call := standing.Call{Session: q.Session, Agent: q.Agent, Tool: q.Tool, Class: utp.Reversible, Args: args}

	p, err := standing.Make(asked, call, standing.Giver{Question: q.Number}, now)
	if err != nil {
		return asked, "", cause.Misuse(err.Error(), "for example where 'path=/home/ann/Pictures/*', where 'count<=20' or where 'note=*'")
	}

	return asked, fmt.Sprintf("For %s, %s. Each use is told.", legible.Duration(p.Expires.Sub(p.Made)), legible.Line(p.Terms())), nil
}

// parseBound reads a bound as it is typed: name=beginning*, name=value, name=*, name<=number. A name is that of an
// argument, or its path.
func parseBound(text string, args jsontext.Value) (api.Bound, error) {
	name, value, found := strings.Cut(text, "=")
	most := strings.HasSuffix(name, "<")
	name = strings.TrimSpace(strings.TrimSuffix(name, "<"))

	if !found || name == "" {
		return api.Bound{}, cause.Misuse(fmt.Sprintf("%.64q is not a bound on an argument", text), "for example 'path=/home/ann/Pictures/*', 'count<=20' or 'note=*'")
	}

	b := api.Bound{Argument: "/" + strings.TrimPrefix(name, "/"), Rule: api.BoundEquals}

	switch beginning, begins := strings.CutSuffix(value, "*"); {
	case most:
		b.Rule, b.Value = api.BoundMost, jsontext.Value(strings.TrimSpace(value))
	case value == "*":
		b.Rule = api.BoundAny
	case begins:
		b.Rule, b.Value = api.BoundBegins, quoted(beginning)
	case argument(args, b.Argument).Kind() != jsontext.KindString && jsontext.Value(value).IsValid():
		b.Value = jsontext.Value(value)
	default:
		b.Value = quoted(value)
	}

	if most && !b.Value.IsValid() {
		return b, cause.Misuse(fmt.Sprintf("%.64q has no number", text), "for example 'count<=20'")
	}

	return b, nil
}

func quoted(text string) jsontext.Value {
	raw, err := json.Marshal(text, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil // a text always encodes
	}

	return raw
}

// argument finds an argument by its JSON pointer; nothing if there is none.
func argument(args jsontext.Value, pointer string) jsontext.Value {
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var members map[string]jsontext.Value
		if json.Unmarshal(args, &members) != nil {
			return nil
		}

		args = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}

	return args
}

// splitWords splits a line into words, at spaces. What stands in quotes is one word, or a part of one. It returns false if
// a quote does not end.
func splitWords(line string) (words []string, ok bool) {
	var word strings.Builder

	inWord, quote := false, rune(0)

	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if inWord {
				words = append(words, word.String())
			}

			word.Reset()
			inWord = false
		default:
			word.WriteRune(r)

			inWord = true
		}
	}

	if inWord {
		words = append(words, word.String())
	}

	return words, quote == 0
}

// PermissionLine says a standing permission in one line. Until is its end, as a person reads it.
func PermissionLine(p api.StandingPermission, until string) string {
	where := "in any session"
	if p.Session != "" {
		where = "in " + legible.Line(p.Session)
	}

	line := fmt.Sprintf("Permission %d: %s may use %s %s", p.Number, legible.Line(p.Agent), legible.Line(p.Tool), where)
	if p.BoundsText != "" {
		line += ", if " + legible.Line(p.BoundsText)
	}

	return fmt.Sprintf("%s. %d of %d uses left, until %s. Given by %s with question %d.", line, p.Left, p.Uses, until, legible.Line(p.By), p.Question)
}

// RevokedLine says that a permission has ended.
func RevokedLine(p api.StandingPermission) string {
	if p.Ended == string(standing.Revoked) {
		return fmt.Sprintf("Standing permission %d is revoked. %s has to ask again for %s.", p.Number, legible.Line(p.Agent), legible.Line(p.Tool))
	}

	return fmt.Sprintf("Standing permission %d had ended already.", p.Number)
}
