#include "calibration/variables.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"

namespace tokenroof::calibration {

namespace {

/// Times are linear in what is no efficiency.
bool is_linear(const Constant& constant) { return constant.range != readers::Range::efficiency; }

/// Of what is no efficiency.
double least_of(const Constant& constant) { return constant.range == readers::Range::multiple ? 1 : 0; }

/// All that the file states.
constexpr std::string_view stated_key = "stated";

void require_known(std::span<const std::string> fit, const std::vector<Constant>& constants) {
  for (const std::string& key : fit) {
    const bool known =
        std::any_of(constants.begin(), constants.end(), [&](const Constant& one) { return is_meant(one, key); });
    if (!known && key != stated_key) {
      std::vector<std::string> all;
      for (const Constant& constant : constants) {
        all.push_back(constant.name());
        all.push_back(constant.group);
      }
      const std::vector<std::string_view> names(all.begin(), all.end());
      throw InvalidSpec("fit", '\'' + key.substr(0, 64) + '\'',
                        "is no constant of an engine" + nearest_as_text(nearest_names(key, names)));
    }
  }
}

bool is_wanted(const Constant& constant, std::span<const std::string> fit) {
  return std::any_of(fit.begin(), fit.end(), [&](const std::string& key) { return is_meant(constant, key); });
}

/// The profile from which another takes a constant: its own, or the one for any device.
std::optional<std::size_t> origin_of(const EngineDocument& document, std::size_t profile, const Constant& constant) {
  if (document.stated(profile, constant)) {
    return constant.serving != nullptr ? 0 : profile; // of serving there is but one
  }
  const auto general = document.find_profile({});
  return general && document.stated(*general, constant) ? general : std::nullopt;
}

/// An interval about the value where the file gives none; and at least as wide as fleets differ from one another, since a
/// file's interval is of the devices that were measured for it.
double width_of(const Constant& constant, const Figure& figure) {
  const bool stated = figure.low < figure.high;
  if (is_linear(constant)) {
    constexpr double usual = 0.75; // a factor of two to either side: half the distance from x / 2 to 2 x
    constexpr double least = 0.5;
    const double half = stated ? std::max((figure.high - figure.low) / 2, least * figure.value) : usual * figure.value;
    return half / deviations_of_interval;
  }
  constexpr double usual = 0.25;
  constexpr double least = 0.2;
  const double half = stated ? std::max(std::log(figure.high / figure.low) / 2, least) : usual;
  return half / deviations_of_interval;
}

Variable variable_of(const EngineDocument& document, const Constant& constant, std::size_t profile,
                     std::size_t origin) {
  Variable variable{.constant = constant, .profile = profile};
  variable.prior =
      document.stated(origin, constant).value_or(Figure{.value = value_of(document.engine(), origin, constant)});
  variable.width = width_of(constant, variable.prior);
  return variable;
}

void add_to(std::vector<Variable>& variables, const EngineDocument& document, const Constant& constant,
            std::size_t place, std::size_t origin, std::size_t profile) {
  const auto same = std::find_if(variables.begin(), variables.end(), [&](const Variable& variable) {
    return variable.profile == place && variable.constant == constant;
  });
  Variable& variable =
      same != variables.end() ? *same : variables.emplace_back(variable_of(document, constant, place, origin));
  variable.profiles.push_back(profile);
}

/// How much a row's time changes, as a logarithm, when a variable is at `point`: the median of the rows that depend on it.
double usual_change(const Variable& variable, double point, const Engine& engine, RowTimes& times,
                    const Eigen::VectorXd& before) {
  Engine changed = engine;
  set_point(changed, variable, point);
  Eigen::VectorXd after = before;
  times.evaluate(changed, variable.profiles, after);
  std::vector<double> changes;
  for (const double change : (after - before).cwiseAbs()) {
    if (change > 0) {
      changes.push_back(change);
    }
  }
  if (changes.empty()) {
    return 0;
  }
  const auto middle = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2);
  std::nth_element(changes.begin(), middle, changes.end());
  return *middle;
}

} // namespace

double Variable::value(double point) const {
  return is_linear(constant) ? std::max(prior.value + width * point, least_of(constant))
                             : std::min(prior.value * std::exp(width * point), 1.0);
}

double Variable::point(double value) const {
  return is_linear(constant) ? (value - prior.value) / width : std::log(value / prior.value) / width;
}

double Variable::lower() const {
  constexpr double least_efficiency = 1e-3;
  return point(is_linear(constant) ? least_of(constant) : std::min(least_efficiency, prior.value));
}

double Variable::upper() const { return is_linear(constant) ? std::numeric_limits<double>::infinity() : point(1.0); }

std::vector<Variable> variables_of(const EngineDocument& document, std::span<const std::size_t> profiles,
                                   std::span<const std::string> fit, std::optional<std::size_t> only) {
  const std::vector<Constant> constants = all_constants();
  require_known(fit, constants);
  const bool all_stated = fit.empty() || std::find(fit.begin(), fit.end(), stated_key) != fit.end();
  std::vector<Variable> variables;
  for (const Constant& constant : constants) {
    for (const std::size_t profile : profiles) {
      const std::optional<std::size_t> origin = origin_of(document, profile, constant);
      const bool wanted = (origin && all_stated) || is_wanted(constant, fit);
      if (wanted) {
        const std::size_t general = constant.serving != nullptr ? 0 : document.find_profile({}).value_or(profile);
        const std::size_t stated = origin.value_or(general);
        add_to(variables, document, constant, constant.serving != nullptr ? stated : only.value_or(stated), stated,
               profile);
      }
    }
  }
  return variables;
}

void set_missing_widths(std::vector<Variable>& variables, const Engine& engine, RowTimes& times) {
  constexpr double noticeable = 0.2;
  constexpr double smallest = 1e-6;
  constexpr double largest = 1e8; // beyond, files hold no figure
  const Eigen::VectorXd before = times.evaluate(engine);
  for (Variable& variable : variables) {
    if (variable.width > 0) {
      continue;
    }
    for (variable.width = smallest; variable.width < largest; variable.width *= 10) {
      const double change = usual_change(variable, 1, engine, times, before);
      if (change > noticeable) {
        variable.width *= noticeable / change;
        break;
      }
    }
  }
}

void set_point(Engine& engine, const Variable& variable, double point) {
  for (const std::size_t profile : variable.profiles) {
    set_value(engine, profile, variable.constant, variable.value(point));
  }
}

} // namespace tokenroof::calibration
