#include <algorithm>
#include <set>

#include "sql/discovery/frameworks/framework.h"

namespace redquel::sql {

namespace {

constexpr std::size_t kExamples = 3;

/// Gives each framework a schema name of its own: bullmq, bullmq_2 …
void name_schemas(std::vector<FoundFramework>& found) {
  std::set<std::string> taken;
  for (FoundFramework& framework : found) {
    const std::string base = framework.proposal.schema;
    for (std::size_t number = 2; !taken.insert(framework.proposal.schema).second; ++number) {
      framework.proposal.schema = base + "_" + std::to_string(number);
    }
  }
}

}  // namespace

std::span<const FrameworkRecogniser> framework_recognisers() {
  static constexpr FrameworkRecogniser kRecognisers[] = {
      {"BullMQ", recognise_bullmq},
      {"Bull", recognise_bull},
      {"Sidekiq", recognise_sidekiq},
      {"Resque", recognise_resque},
      {"Celery", recognise_celery},
      {"RQ", recognise_rq},
      {"Laravel", recognise_laravel},
      {"Horizon", recognise_horizon},
      {"Django", recognise_django},
      {"Rails", recognise_rails},
      {"connect-redis", recognise_connect_redis},
      {"Spring Session", recognise_spring_session},
      {"rate-limiter-flexible", recognise_rate_limiter},
      {"Redlock", recognise_redlock},
      {"Socket.IO", recognise_socket_io},
      {"Kamailio", recognise_kamailio},
      {"Spring Data Redis", recognise_spring_data},
      {"Redis OM", recognise_redis_om},
  };
  return kRecognisers;
}

std::vector<ProposedFramework> take_frameworks(std::vector<SampledShape>& shapes) {
  std::vector<KeySample> keys;
  for (const SampledShape& shape : shapes) keys.insert(keys.end(), shape.keys.begin(), shape.keys.end());
  std::vector<FoundFramework> found;
  for (const FrameworkRecogniser& recogniser : framework_recognisers()) {
    const auto owned = [&](const KeySample& key) {
      return std::ranges::any_of(found, [&](const FoundFramework& framework) { return framework.owns(key); });
    };
    std::erase_if(keys, owned);
    for (FoundFramework& framework : recogniser.recognise(keys)) found.push_back(std::move(framework));
  }
  name_schemas(found);
  for (SampledShape& shape : shapes) {
    const std::size_t sampled = shape.keys.size();
    std::vector<KeySample> others;
    for (KeySample& key : shape.keys) {
      const auto owner = std::ranges::find_if(found, [&](const FoundFramework& framework) { return framework.owns(key); });
      if (owner == found.end()) {
        others.push_back(std::move(key));
      } else if (owner->proposal.examples.size() < kExamples) {
        owner->proposal.examples.push_back(std::move(key.key));
      }
    }
    // Reduces the count of the keys that were not sampled by the share that belongs to frameworks.
    if (others.size() < sampled) shape.shape.count = shape.shape.count * others.size() / sampled;
    shape.keys = std::move(others);
  }
  std::erase_if(shapes, [](const SampledShape& shape) { return shape.shape.count == 0; });
  std::vector<ProposedFramework> frameworks;
  for (FoundFramework& framework : found) frameworks.push_back(std::move(framework.proposal));
  return frameworks;
}

}  // namespace redquel::sql
