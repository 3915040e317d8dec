package doctor

import (
	"errors"
	"path/filepath"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/oauth"
	"github.com/earshot-dev/earshot/internal/toolfile"
)

// examineLogin checks the login at an MCP server, if it asks for one.
func (o Options) examineLogin(s toolfile.Service) []Finding {
	const name, layout = "login", "2 January 2006 15:04"
	if s.Source == nil || o.DataErr != nil {
		return nil
	}
	store := &oauth.Store{Dir: filepath.Join(o.Data, oauth.Folder), Now: o.Now, LookupEnv: o.LookupEnv}
	l, err := store.Load(s.Name, s.Address)
	switch {
	case errors.Is(err, oauth.ErrNone):
		return nil
	case err != nil:
		return []Finding{broken(name, err)}
	case !l.Holds(o.Now()):
		return []Finding{{Name: name, State: Problem, Found: s.Name + " needs a login; its tools are missing until then.", Advice: "`earshot mcp login " + s.Name + "`"}}
	}
	found := s.Name + " has been logged in since " + l.Since.Local().Format(layout) + ", at " + cause.OneLine(l.Issuer)
	switch {
	case l.Expires.IsZero():
	case l.RefreshToken != "":
		found += ", and the login is renewed automatically"
	default:
		found += ", until " + l.Expires.Local().Format(layout)
	}
	return []Finding{{Name: name, State: OK, Found: sentence(found)}}
}
