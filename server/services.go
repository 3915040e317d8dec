package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// readyTime is how long the answer waits for the tools of a service that was just started.
const readyTime = 20 * time.Second

func (s Service) inner() instance.Service {
	return instance.Service{
		Name: s.Name, Tools: s.Tools, Open: s.Open, Source: s.Source, Entry: s.Entry, Ready: s.Ready, Close: s.Close,
	}
}

// rereader returns the function that reads the list of services again, and has it take effect; nil if there is no list.
func (s *Server) rereader(reread func() ([]Service, error)) func(context.Context) (api.Services, error) {
	if reread == nil {
		return nil
	}
	return func(ctx context.Context) (api.Services, error) {
		list, err := reread()
		if err != nil {
			return api.Services{}, refused(err)
		}
		inner := make([]instance.Service, 0, len(list))
		for _, one := range list {
			inner = append(inner, one.inner())
		}
		done, err := s.instance.Replace(context.WithoutCancel(ctx), inner)
		if failure, is := errors.AsType[*cause.Error](err); is {
			return api.Services{}, &web.Refusal{Kind: api.KindUnavailable, Message: failure.Message, Hint: failure.Hint, Cause: err}
		}
		return api.Services{Started: awaitReady(ctx, done.Started), Ended: done.Ended}, err
	}
}

// awaitReady waits until each of the services has offered its tools, or has failed to.
func awaitReady(ctx context.Context, all []instance.Service) []api.StartedService {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	rows := make([]api.StartedService, len(all))
	var waiting sync.WaitGroup
	for n, one := range all {
		rows[n].Service = one.Name
		if one.Ready == nil {
			continue
		}
		waiting.Go(func() {
			if err := one.Ready(ctx); err != nil {
				rows[n].Trouble = cause.OneLine(cause.Of(err))
			}
		})
	}
	waiting.Wait()
	return rows
}
