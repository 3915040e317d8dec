package instance

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/tool/service"
)

// runningService is a started service, which [Instance.Replace] can end.
type runningService struct {
	Service

	bus   *bus.Client
	stop  context.CancelFunc
	ended chan struct{} // closed when its last call has reported
}

// runningServices are the started services, by name.
type runningServices struct {
	changing sync.Mutex // locked while services are replaced, and by Close
	closed   bool       // guarded by changing

	mu     sync.Mutex
	byName map[string]*runningService
}

func (r *runningServices) add(one *runningService) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName == nil {
		r.byName = map[string]*runningService{}
	}
	r.byName[one.Name] = one
}

func (r *runningServices) remove(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byName, name)
}

// all returns the running services in the order of their names.
func (r *runningServices) all() []*runningService {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*runningService, 0, len(r.byName))
	for _, name := range slices.Sorted(maps.Keys(r.byName)) {
		all = append(all, r.byName[name])
	}
	return all
}

// close lets nothing be replaced any more, and waits for a replacement that is under way.
func (r *runningServices) close() {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.closed = true
}

// Replaced is what [Instance.Replace] has done.
type Replaced struct {
	// Ended are the names of the services that were ended, and Started those that were started.
	Ended   []string
	Started []Service
}

// Replace makes the running services with a Source those of the list. It ends one that is missing, or whose Entry is
// another, once its calls have reported; it starts those that are new. Other services stay as they are, in the list or
// not. The list's services belong to the instance from here on: it closes those that it has no use for.
//
// After an error some may have been replaced; it can be called again.
func (i *Instance) Replace(ctx context.Context, list []Service) (done Replaced, err error) {
	i.running.changing.Lock()
	defer i.running.changing.Unlock()
	wanted := sourcesIn(list)
	defer func() {
		for _, s := range wanted { // not started
			s.Close()
		}
	}()
	if i.running.closed {
		return done, cause.Fail(nil, "the server is ending", "")
	}
	for _, one := range i.running.all() {
		switch next, stays := wanted[one.Name]; {
		case one.Source == nil:
		case stays && next.Entry == one.Entry:
			next.Close()
			delete(wanted, one.Name)
		default:
			if err := i.endService(ctx, one); err != nil {
				return done, err
			}
			done.Ended = append(done.Ended, one.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		s := wanted[name]
		if err := i.Members.admit(s); err != nil {
			return done, err
		}
		if err := i.Serve(ctx, s); err != nil {
			return done, err
		}
		delete(wanted, name)
		i.closers = append(i.closers, s.Close)
		done.Started = append(done.Started, s)
	}
	return done, nil
}

// sourcesIn returns the services with a Source, by name, and closes the others.
func sourcesIn(list []Service) map[string]Service {
	all := map[string]Service{}
	for _, s := range list {
		s.Close = sync.OnceFunc(orNothing(s.Close))
		if s.Source == nil {
			s.Close()
			continue
		}
		all[s.Name] = s
	}
	return all
}

func orNothing(f func()) func() {
	if f == nil {
		return func() {}
	}
	return f
}

// farewellTime is how long the kernel may take to note that a service has no tools any more.
const farewellTime = 5 * time.Second

// endService ends a service for good: its tools are not offered any more, and the kernel withdraws what is asked about
// them.
func (i *Instance) endService(ctx context.Context, one *runningService) error {
	one.stop()
	<-one.ended
	if one.Close != nil {
		one.Close()
	}
	i.running.remove(one.Name)
	err := rpc.AskWithin(ctx, service.Conn{Client: one.bus}, farewellTime, api.OpServes, api.ServesRequest{}, nil)
	one.bus.Close()
	if err != nil {
		return cause.Fail(err, "the service "+one.Name+" has ended, and its tools are still listed", "take them out with `earshot tools rm`")
	}
	return i.Members.dismiss(one.Service)
}
