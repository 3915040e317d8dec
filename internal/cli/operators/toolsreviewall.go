package operators

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/listing"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/wording"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// serviceReview is the operator's review of all tools of a service.
type serviceReview struct {
	service, digest, risk string
	classes               []string // CLASS=TOOL,TOOL, or CLASS for all others
}

// proposed proposes a class for a tool: from its MCP server's hints, otherwise from its definition.
func proposed(t api.ToolDetail) mcp.Proposal {
	if claims, is := mcp.ClaimsOf(t.Definition); is {
		return mcp.Propose(claims)
	}
	return mcp.Proposal{Class: wording.ClassOr("", t), Risk: wording.RiskOr("", t)}
}

// classes returns the classes of a review, from the least to the most severe.
func classes() []utp.Class {
	return []utp.Class{utp.Read, utp.Idempotent, utp.Reversible, utp.Irreversible}
}

// riskFor returns the default risk of a class.
func riskFor(c utp.Class) utp.Risk {
	switch c {
	case utp.Read:
		return utp.RiskLow
	case utp.Idempotent, utp.Reversible:
		return utp.RiskMedium
	default:
		return utp.RiskHigh
	}
}

// toolsOf returns all tools of a service, by the prefix of their names.
func toolsOf(ctx context.Context, ask operate.Ask, service string) (all []api.ToolDetail, err error) {
	for after := ""; ; {
		var page api.ToolsAnswer
		if err := ask(ctx, api.OpTools, api.ToolsRequest{After: after}, &page); err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if after = t.Tool; strings.HasPrefix(t.Tool, service+".") {
				all = append(all, t)
			}
		}
		if !page.More || len(page.Tools) == 0 {
			return all, nil
		}
	}
}

// digestOf returns a digest of the tools and their definitions: only what was looked at is recorded.
func digestOf(tools []api.ToolDetail) string {
	h := sha256.New()
	for _, t := range tools {
		fmt.Fprintf(h, "%s %s\n", t.Tool, t.Digest)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// noService is the error for the name of a service that has no tools.
func noService(ctx context.Context, ask operate.Ask, name string) error {
	var names []string
	_ = operate.EachTool(ctx, ask, func(t api.ToolDetail) error { // where it fails, no similar name is known
		service, _, _ := strings.Cut(t.Tool, ".")
		names = append(names, service)
		return nil
	})
	return cause.Fail(nil, fmt.Sprintf("the service %.128q has no tools", name),
		settings.Suggest(name, names, "see `earshot tools list`; tools of an MCP server are there once it has run"))
}

// reviewService shows all unreviewed tools of a service, or records their reviews.
func (m *commands) reviewService(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, q serviceReview) error {
	all, err := toolsOf(ctx, ask, q.service)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return noService(ctx, ask, q.service)
	}
	open := slices.DeleteFunc(slices.Clone(all), func(t api.ToolDetail) bool { return t.Reviewed })
	if q.digest == "" {
		return m.offerService(f, q.service, all, open)
	}
	if digestOf(open) != q.digest {
		return cause.Fail(nil, "the tools of "+q.service+" that are not reviewed are others than those that were looked at",
			"look at them again: `earshot tools review '"+q.service+".*'`")
	}
	named, rest, err := q.named(open)
	if err != nil {
		return err
	}
	list := m.NewRows(f.AsJSON)
	for _, t := range open {
		class := cmp.Or(named[t.Tool], rest)
		r := api.ReviewRequest{Tool: t.Tool, Digest: t.Digest, Class: class, Risk: cmp.Or(utp.Risk(q.risk), riskFor(class))}
		if proposal := proposed(t); q.risk == "" && proposal.Class == class {
			r.Risk = proposal.Risk
		}
		if !r.Risk.Valid() {
			return cause.Misuse("the risk is none", "a risk is low, medium or high")
		}
		var done api.ToolDetail
		if err := ask(ctx, api.OpReview, r, &done); err != nil {
			return err
		}
		if err := list.Add(done, "Recorded: "+listing.ToolLine(done)); err != nil {
			return err
		}
	}
	list.End("All tools of " + q.service + " are reviewed.")
	return nil
}

// named parses the classes: of each named tool, and of the rest.
func (q serviceReview) named(open []api.ToolDetail) (of map[string]utp.Class, rest utp.Class, err error) {
	of, rest = map[string]utp.Class{}, utp.Irreversible
	for _, text := range q.classes {
		class, tools, some := strings.Cut(text, "=")
		if !utp.Class(class).Valid() {
			return nil, "", cause.Misuse(fmt.Sprintf("%.64q is not a class", class), "a class is read, idempotent, reversible or irreversible, such as --class read=TOOL,TOOL")
		}
		if !some {
			rest = utp.Class(class)
			continue
		}
		for short := range strings.SplitSeq(tools, ",") {
			name := q.service + "." + strings.TrimPrefix(strings.TrimSpace(short), q.service+".")
			if !slices.ContainsFunc(open, func(t api.ToolDetail) bool { return t.Tool == name }) {
				return nil, "", cause.Misuse(fmt.Sprintf("%.128q is not a tool of %s that waits for review", short, q.service), "see `earshot tools review '"+q.service+".*'`")
			}
			if before := of[name]; before != "" && before != utp.Class(class) {
				return nil, "", cause.Misuse(name+" is named twice, as "+string(before)+" and as "+class, "name it once")
			}
			of[name] = utp.Class(class)
		}
	}
	return of, rest, nil
}

// offerService shows tools with proposals, and the command that accepts them.
func (m *commands) offerService(f cli.RemoteFlags, service string, all, open []api.ToolDetail) error {
	if f.AsJSON {
		return m.WriteJSON(open)
	}
	for _, t := range all {
		if t.Reviewed {
			m.Printf("%s: reviewed, %s, %s risk.", cause.OneLine(t.Tool), t.EffectiveClass, t.EffectiveRisk)
		}
	}
	if len(open) == 0 {
		m.Printf("All tools of %s are reviewed.", service)
		return nil
	}
	by := map[utp.Class][]string{}
	for _, t := range open {
		p := proposed(t)
		by[p.Class] = append(by[p.Class], strings.TrimPrefix(t.Tool, service+"."))
		state := ""
		if len(t.Seen) > 0 {
			state = " It has changed since its review."
		}
		m.Printf("%s: proposed %s, %s risk%s.%s It says: %s", cause.OneLine(t.Tool), p.Class, p.Risk, forWhy(p.Why), state, cause.OneLine(settings.Clip(cause.OneLine(t.Description), 300)))
		for _, change := range wording.Changes(t) {
			m.Printf("  Changed since the last review: %s", change)
		}
	}
	m.Printf("See one in full, with what it takes: `earshot tools review %s`.", cause.Quoted(open[0].Tool))
	m.Printf("Nobody has checked what is proposed. To record it as it stands, or with other classes:")
	words := []string{"  earshot tools review", "'" + service + ".*'", "--digest", digestOf(open)}
	for _, class := range classes() {
		if len(by[class]) > 0 {
			words = append(words, "--class", string(class)+"="+strings.Join(by[class], ","))
		}
	}
	m.Printf("%s", strings.Join(words, " "))
	return nil
}

func forWhy(why string) string {
	if why == "" {
		return ""
	}
	return ", because " + why
}
