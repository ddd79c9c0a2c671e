#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "sql/discovery/proposal.h"

namespace redquel::sql {

/// A framework that a recogniser has found, and the keys that belong to it.
struct FoundFramework {
  ProposedFramework proposal;
  /// Returns true if the framework wrote this key, so that discovery proposes no other table for it.
  std::function<bool(const KeySample&)> owns;
};

/// A recogniser of the keys of one framework. It reads sampled keys and returns one result for each prefix that the framework uses.
struct FrameworkRecogniser {
  std::string_view framework;
  std::vector<FoundFramework> (*recognise)(std::span<const KeySample> keys);
};

std::vector<FoundFramework> recognise_bullmq(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_bull(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_sidekiq(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_resque(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_celery(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_rq(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_laravel(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_horizon(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_django(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_rails(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_connect_redis(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_spring_session(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_rate_limiter(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_redlock(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_socket_io(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_kamailio(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_spring_data(std::span<const KeySample> keys);
std::vector<FoundFramework> recognise_redis_om(std::span<const KeySample> keys);

/// All recognisers, in the order in which they look. A key belongs to the first framework that owns it.
std::span<const FrameworkRecogniser> framework_recognisers();

/// Takes the keys of known frameworks out of the shapes, and returns the frameworks. Shapes without other keys are removed.
std::vector<ProposedFramework> take_frameworks(std::vector<SampledShape>& shapes);

}  // namespace redquel::sql
