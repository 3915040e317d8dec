// Package worker is the SDK for an agent. An agent is a [Planner]: a fold over the results of its calls that decides
// what to do next. The worker claims turns of that agent from the kernel, requests the calls that the planner wants,
// waits for their results, and delivers the answer. It publishes nothing: the kernel decides whether a call may leave.
//
// A planner's state is not saved. After a crash the worker claims the turn again, feeds the recorded results to a fresh
// planner, and continues where the turn stopped. A planner must therefore return the same decision for the same
// results.
package worker
