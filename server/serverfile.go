package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// writeServerFile records the server's address and credentials: one file for this user's programs, a separate one for
// the commands that the user types.
func (s *Server) writeServerFile(now time.Time) error {
	data := s.instance.Data
	if err := datadir.WriteFile(data.File(datadir.PersonFile), []byte(s.instance.CommandToken+"\n")); err != nil {
		return err
	}
	info := client.ServerInfo{
		URL: s.url, Page: s.page + "/", PID: os.Getpid(), Person: instance.LocalUser(), Token: s.instance.Token, Socket: s.socket, Policy: s.instance.Policy.Path,
		Started: now.UTC().Truncate(time.Second),
	}
	raw, err := json.Marshal(info, jsontext.Multiline(true))
	if err != nil {
		return fmt.Errorf("writing %s: %w", datadir.ServerFile, err)
	}
	return datadir.WriteFile(data.File(datadir.ServerFile), raw)
}

// credentials reloads the credentials files.
func (s *Server) credentials(ctx context.Context) (api.Credentials, error) {
	answer, err := s.instance.Members.Reload(ctx)
	if failure, is := errors.AsType[*cause.Error](err); is {
		return answer, &web.Refusal{Kind: api.KindUnavailable, Message: failure.Message, Hint: failure.Hint, Cause: err}
	}
	return answer, err
}
