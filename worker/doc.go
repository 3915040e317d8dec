// Package worker is the SDK for an agent. An agent is a [Planner]: a fold over the
// results of its calls that says what to do next. The worker claims turns of that
// agent at the kernel, asks for the calls that the planner wants, waits for their
// results, and delivers the answer. It publishes nothing: whether a call may leave is
// the kernel's to decide.
//
// A planner's state is not saved. After a crash the worker claims the turn again,
// feeds the recorded results to a fresh planner, and goes on where the turn stands;
// a planner must therefore give the same next move for the same results.
package worker
